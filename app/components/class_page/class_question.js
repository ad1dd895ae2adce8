// The question of a scene, with its answers as large buttons. When the lecturer reveals the answer, the buttons show
// how many chose each and which is right.

import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

// `send` sends an answer to the server. The answers that have arrived there are kept in the tab, so that they are known
// after a reload.
export function newQuestion(parent, follower, send) {
  const box = element("section", { class: "question", "aria-label": _("Question") }, parent);
  const prompt = element("p", "prompt", box), answers = element("div", "answers", box);
  const note = element("p", { class: "note", role: "status" }, box);
  const storage = `headlight-class-answers-${follower}`;
  // An answer, from 0, by the question and by how many times it was asked before.
  const arrived = JSON.parse(sessionStorage.getItem(storage) ?? "{}");
  const nameOf = ({ id, time }) => `${id} ${time}`;
  let shown = {};  // the question on the page, and what is revealed of it
  let sending = Promise.resolve();  // one answer after the other: the server keeps the one that arrives last

  async function choose(question, index) {
    let problem = "";
    mark(index);
    try {
      await (sending = sending.catch(() => {}).then(() => send(question.id, index)));
      arrived[nameOf(question)] = index;
      sessionStorage.setItem(storage, JSON.stringify(arrived));
    } catch (error) {
      problem = error.status ? error.message : _("No connection to Headlight. Try again.");
    }
    if (shown.question && nameOf(shown.question) === nameOf(question)) report(problem);
  }

  function mark(index) {
    answers.childNodes.forEach((node, i) => node.setAttribute("aria-pressed", String(i === index)));
  }

  // Marks the answer that counts and says what became of it. `problem`: why the latest one has not arrived.
  function report(problem = "") {
    const { question, revealed } = shown, mine = arrived[nameOf(question)];
    mark(mine);
    if (revealed) {
      const verdict = mine === undefined ? "" : mine === revealed.right ? _("Your answer is right.") : _("Another answer is right.");
      note.textContent = `${verdict} ${revealed.why}`.trim();
    } else {
      note.textContent = problem || (mine === undefined ? _("Which is right?") : _("Your answer has arrived. You may change it until it is revealed."));
    }
  }

  return {
    show({ question, revealed }) {
      box.hidden = !question;
      const shows = JSON.stringify([question, revealed]);
      if (box.dataset.shows === shows) return;
      box.dataset.shows = shows;
      shown = { question, revealed };
      if (!question) return;
      prompt.textContent = question.prompt;
      answers.replaceChildren();
      const given = revealed?.totals.reduce((sum, count) => sum + count, 0) ?? 0;
      question.answers.forEach((answer, index) => {
        const node = button("answer", answers, undefined, () => choose(question, index));
        element("i", "", node, `${index + 1}`);
        element("span", { dir: "auto" }, node, answer);
        node.disabled = Boolean(revealed);
        if (!revealed) return;
        element("span", "total", node, `${revealed.totals[index]}${index === revealed.right ? " ✓" : ""}`);
        node.classList.toggle("right", index === revealed.right);
        node.style.setProperty("--share", `${given ? (100 * revealed.totals[index]) / given : 0}%`);
      });
      report();
    },
  };
}
