// A question: its answers as buttons, which the number keys choose, too. The server sends which answer is right only
// when it is revealed; until then `right` is -1.

import { TYPED_IN } from "../shared/arrow_keys.js";
import { button, element, focusedIn, handled } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { announceRevealed } from "../shared/revealed.js";

const NAMES = { next: _("Another question"), show: _("Show it in the picture"), close: _("Close") };

function verdict({ chosen, right, answers }) {
  if (right < 0) return chosen < 0 ? "" : _("Your answer is noted.");
  const answer = answers[right];
  if (chosen < 0) return _("The answer is {answer}.", { answer });
  return chosen === right ? _("Right: {answer}.", { answer }) : _("No: the answer is {answer}.", { answer });
}

// Marks the answers. What was chosen in the browser is marked at once, without waiting for the server.
function mark(root, card) {
  const focused = focusedIn(root);
  root.classList.toggle("revealed", card.right >= 0);
  [...root.querySelectorAll(".answers button")].forEach((node, i) => {
    node.setAttribute("aria-pressed", String(i === card.chosen));
    node.classList.toggle("right", i === card.right);
    node.classList.toggle("wrong", card.right >= 0 && i === card.chosen && i !== card.right);
    node.querySelector(".mark").textContent = i === card.right ? "✓" : card.right >= 0 && i === card.chosen ? "✗" : "";
    node.disabled = card.right >= 0;
  });
  root.querySelector(".verdict").textContent = verdict(card);
  root.querySelector(".why").textContent = card.why;
  root.querySelector(".reveal").disabled = card.right >= 0;
  const show = root.querySelector(".show");
  if (show) show.disabled = card.right < 0;
  if (focused?.disabled) (show ?? root.querySelector(".next")).focus({ preventScroll: true });
}

function build(root, card, { answer, reveal, act }) {
  root.replaceChildren();
  const modal = card.acts.includes("close") ? { role: "dialog", "aria-modal": "true" } : {};
  const box = element("section", { class: "card", "aria-label": _("Question"), ...modal }, root);
  element("p", { class: "sentence", dir: "auto" }, box, card.sentence);
  element("p", { class: "prompt", tabindex: "-1" }, box, card.prompt);
  const answers = element("div", { class: "answers", role: "group", "aria-label": _("Answers") }, box);
  card.answers.forEach((text, i) => {
    const node = button({}, answers, undefined, () => answer(i));
    element("span", { class: "number", "aria-hidden": "true" }, node, `${i + 1}`);
    element("span", { class: "text", dir: "auto" }, node, text);
    element("span", "mark", node);
  });
  const status = element("div", { class: "status", role: "status", "aria-live": "polite" }, box);
  element("p", "verdict", status);
  element("p", "why", status);
  const line = element("div", "buttons", box);
  button({ class: "reveal" }, line, _("Reveal"), reveal);
  for (const name of card.acts) button({ class: name }, line, NAMES[name], () => act(name));
}

// Makes everything beside the card inert: what it covers cannot get the focus.
function cover(root) {
  const covered = (root.headlightCovered ??= []);
  for (let node = root.getRootNode().host; node && node !== document.body; node = node.parentElement) {
    for (const other of node.parentElement.children) {
      if (other === node || other.inert) continue;
      other.inert = true;
      covered.push(other);
    }
  }
}

function uncover(root) {
  root.headlightCovered?.forEach((node) => { node.inert = false; });
  root.headlightCovered = null;
  if (document.querySelector(".st-key-question_over_picture")) return;  // it says that there is no such question here
  document.querySelector(".st-key-predict button")?.focus({ preventScroll: true });  // which has opened it
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const card = (root.headlightCard = { ...data });
  // The answer that was chosen in this browser, which the server may not have received yet; -1: none.
  const chosenHere = root.headlightChosen?.question === data.questionId ? root.headlightChosen.index : -1;
  if (card.right < 0 && chosenHere >= 0) card.chosen = chosenHere;
  const send = (name, more = {}) => setTriggerValue(name, { question: card.questionId, ...more });
  const answer = (index) => {
    if (card.right >= 0 || index >= card.answers.length) return;
    root.headlightChosen = { question: card.questionId, index };
    card.chosen = index;
    mark(root, card);
    send("answered", { index });
  };
  const reveal = () => { if (card.right < 0) send("revealed"); };
  const act = (name) => {
    if (name === "show") document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);  // where the picture is
    send("acted", { act: name });
  };
  const focused = root.getRootNode().activeElement?.className.split(" ")[0];
  if (root.headlightQuestion !== card.questionId || root.headlightActs !== card.acts.join()) {
    [root.headlightQuestion, root.headlightActs] = [card.questionId, card.acts.join()];
    build(root, card, { answer: (i) => root.headlightDo.answer(i), reveal: () => root.headlightDo.reveal(), act: (name) => root.headlightDo.act(name) });
    if (card.acts.includes("close") && !focused) root.querySelector(".prompt").focus({ preventScroll: true });
    else if (focused) root.querySelector(`.${focused}`)?.focus({ preventScroll: true });
  }
  if (card.acts.includes("close")) cover(root);
  document.body.toggleAttribute("data-question-waits", card.right < 0);  // stage.css hides the picture
  announceRevealed(card.right >= 0);
  root.headlightDo = { answer, reveal, act };
  mark(root, card);
  const keys = (event) => {
    const target = event.composedPath()[0];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target?.closest?.(TYPED_IN)) return;
    const index = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    if (index >= 0 && index < card.answers.length && card.right < 0) {
      handled(event);
      answer(index);
    } else if (event.key === "Escape" && card.acts.includes("close")) {
      handled(event);
      act("close");
    } else if (card.byKeys && card.right < 0 && (event.key === "ArrowDown" || (event.key === "Enter" && !target?.closest?.("button, a")))) {
      handled(event);
      reveal();
    }
  };
  // One listener per card: the listener of an earlier call has an earlier state of the card.
  document.removeEventListener("keydown", root.headlightKeys);
  root.headlightKeys = keys;
  document.addEventListener("keydown", keys);
  return () => {
    if (root.isConnected && root.headlightKeys !== keys) return;  // a later call uses the card now
    document.removeEventListener("keydown", root.headlightKeys);
    document.body.removeAttribute("data-question-waits");
    announceRevealed(false);
    if (card.acts.includes("close")) uncover(root);
  };
}
