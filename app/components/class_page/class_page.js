// The page of a phone that follows a class: see app/classroom. The page asks for what the lecturer shows by long
// polling, and draws it with the canvas of the app. What a person has typed is written as text, never as markup.

import { button, element } from "../shared/dom.js";
import { newCanvas } from "./class_canvas.js";
import { enter, follow, post } from "./class_server.js";
import { _ } from "../shared/language.js";
import { newQuestion } from "./class_question.js";

const main = document.querySelector("main");
const dark = matchMedia("(prefers-color-scheme: dark)");
const setScheme = () => { document.documentElement.style.colorScheme = dark.matches ? "dark" : "light"; };
setScheme();
dark.addEventListener("change", setScheme);

const CODE = decodeURIComponent(window.location.pathname.split("/")[2] ?? "").toUpperCase();
if (CODE) enter(CODE).then(begin, ({ message }) => askForCode(message));
else askForCode("");

// Asks for the code if the address has none or a wrong one, and after the class.
function askForCode(message) {
  main.replaceChildren();
  const form = element("form", "enter", main);
  element("h1", "", form, _("Follow a class"));
  element("p", { class: "message", role: "status" }, form, message || _("Type the six characters that your lecturer shows."));
  const input = element("input", { "aria-label": _("Code of the class"), maxlength: "6", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", required: "" }, form);
  element("button", "", form, _("Follow")).type = "submit";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    window.location.assign(`/class/${encodeURIComponent(input.value.trim().toUpperCase())}${window.location.search}`);
  });
}

function begin(follower) {
  main.replaceChildren();
  const line = element("div", "line", main);
  const [before, after = ""] = _("Class {code}").split("{code}");
  element("span", "", line, before).append(element("b", "", null, CODE), after);
  const status = element("span", { class: "status", role: "status" }, line);
  const title = element("h1", "", main), text = element("p", "text", main);
  const question = newQuestion(main, follower, (id, answer) => post(CODE, follower, "answer", { question: id, answer }));
  const waits = element("div", "waits", main, _("The picture comes when the answer is revealed."));
  const link = element("a", { class: "link", target: "_blank", rel: "noopener" }, main, _("Open this page in Headlight"));
  const canvas = newCanvas(main, CODE, follower);
  const own = ownSentence(main, follower, canvas);

  follow(CODE, follower, {
    status(words) {
      status.textContent = words;
      status.classList.toggle("bad", Boolean(words));
    },
    async news(state) {
      if (state.language !== document.documentElement.lang) { window.location.replace(`?lang=${state.language}`); return; }
      title.textContent = state.title;
      text.textContent = state.text;
      text.hidden = !state.text;
      question.show(state);
      waits.hidden = !(state.question && !state.revealed);
      link.hidden = !state.link;
      if (state.link) link.href = state.link;
      own.sceneChanged(state);
      await canvas.show(state);
    },
    over(message) { canvas.end(); askForCode(message); },
  });
}

// A sentence of the follower, translated by the model of the scene; nobody else sees it. Notes about it are drawn over
// the picture, so that nothing moves.
function ownSentence(parent, follower, canvas) {
  const box = element("div", "own", parent), notice = element("div", "notice", box), form = element("form", "", box);
  const note = element("p", { class: "note", role: "status" }, notice);
  const back = button("back", notice, _("Back to the lecturer’s sentence"), () => { canvas.back(); show(); });
  const input = element("input", { "aria-label": _("Your own sentence"), placeholder: _("Your own sentence"), maxlength: "200", autocomplete: "off", enterkeyhint: "go" }, form);
  const send = element("button", "", form, _("Translate"));
  send.type = "submit";
  let model = "";
  const show = (words) => {
    note.textContent = words ?? (canvas.isOwn() ? _("Your own sentence. Only you see it.") : "");
    back.hidden = !canvas.isOwn();
    notice.hidden = !note.textContent;
  };
  show();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    show(_("Translating …"));
    const asked = model;
    try {
      const response = await post(CODE, follower, "sentence", { text: input.value });
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (asked === model) await canvas.showOwn(bytes, model);  // otherwise the class sees another model meanwhile
      show();
    } catch (error) {
      show(error.message);
    }
    send.disabled = false;
  });
  return {
    sceneChanged(state) {
      model = state.model;
      box.hidden = !model;
      if (!canvas.isOwn() || model === canvas.model()) return;
      canvas.back();
      show();
    },
  };
}
