// The question of a scene, with its answers as large buttons. When the lecturer reveals the answer, the buttons show
// how many chose each and which is right.

import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

export function newQuestion(parent, send) {
  const box = element("section", { class: "question", "aria-label": _("Question") }, parent);
  const prompt = element("p", "prompt", box), answers = element("div", "answers", box);
  const note = element("p", { class: "note", role: "status" }, box);
  const chosen = {};  // the answer, by question

  async function choose(id, index) {
    const before = chosen[id];
    mark(id, index);
    try {
      await send(id, index);
      note.textContent = _("Your answer has arrived. You may change it until it is revealed.");
    } catch (error) {
      mark(id, before);
      note.textContent = error.status ? error.message : _("No connection to Headlight. Try again.");
    }
  }

  function mark(id, index) {
    chosen[id] = index;
    answers.childNodes.forEach((node, i) => node.setAttribute("aria-pressed", String(i === index)));
  }

  return {
    show({ question, revealed }) {
      box.hidden = !question;
      const shows = JSON.stringify([question, revealed]);
      if (!question || box.dataset.shows === shows) return;
      box.dataset.shows = shows;
      prompt.textContent = question.prompt;
      answers.replaceChildren();
      const given = revealed?.totals.reduce((sum, count) => sum + count, 0) ?? 0;
      question.answers.forEach((answer, index) => {
        const node = button("answer", answers, undefined, () => choose(question.id, index));
        element("i", "", node, `${index + 1}`);
        element("span", { dir: "auto" }, node, answer);
        node.disabled = Boolean(revealed);
        if (!revealed) return;
        element("span", "total", node, `${revealed.totals[index]}${index === revealed.right ? " ✓" : ""}`);
        node.classList.toggle("right", index === revealed.right);
        node.style.setProperty("--share", `${given ? (100 * revealed.totals[index]) / given : 0}%`);
      });
      mark(question.id, chosen[question.id]);
      if (!revealed) { note.textContent = chosen[question.id] === undefined ? _("Which is right?") : _("Your answer has arrived. You may change it until it is revealed."); return; }
      const mine = chosen[question.id];
      const verdict = mine === undefined ? "" : mine === revealed.right ? _("Your answer is right.") : _("Another answer is right.");
      note.textContent = `${verdict} ${revealed.why}`.trim();
    },
  };
}
