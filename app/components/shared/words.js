// The words of the reader: a click on one makes it the query. One line that scrolls sideways, and the chosen word is in view.

import { asked, marked } from "./arrow_keys.js";

export function wordsOf(message, chosen, choose) {
  const row = document.createElement("div");
  row.className = "words";
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", `Query: ${message.query_title}`);
  let now = chosen;
  const buttons = message.queries.map((reads, i) => {
    const button = document.createElement("button"), predicts = message.predicts[i];
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(i === chosen));
    button.setAttribute("aria-label", predicts === undefined ? `${i + 1}: ${reads}` : `${i + 1}: reads ${reads}, writes ${predicts}`);
    button.tabIndex = i === chosen ? 0 : -1;
    button.title = button.getAttribute("aria-label");
    button.textContent = predicts ?? reads;
    return button;
  });
  row.append(...buttons);
  const show = () => { row.scrollLeft = buttons[now].offsetLeft - row.offsetLeft - (row.clientWidth - buttons[now].offsetWidth) / 2; };
  const take = (i) => {
    if (i === now) return;
    now = marked(row, i);
    show();
    choose(i);
  };
  buttons.forEach((button, i) => button.addEventListener("click", () => take(i)));
  row.addEventListener("keydown", (event) => {
    const goal = asked(event, now, buttons.length);
    if (goal !== undefined) take(goal);
  });
  return { row, show };
}
