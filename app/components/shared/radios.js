// A row of buttons of which one is chosen: by a click, by the arrow keys, Home and End. Tab reaches the chosen one.

import { itemByKey, markChosen } from "./arrow_keys.js";
import { button } from "./dom.js";

// Fills `row` with a button for each of `names`: a text, or a function that fills the button. When another button is
// chosen, `choose` is called with its index. Returns the buttons, and `mark(index)`, which marks one as chosen.
export function radios(row, label, names, chosen, choose) {
  let now = chosen;
  const mark = (index) => {
    now = index;
    buttons.forEach((node, i) => {
      node.setAttribute("aria-checked", String(i === index));
      node.tabIndex = i === index ? 0 : -1;
    });
  };
  const take = (index) => { if (index !== now) choose(now = markChosen(row, index)); };
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", label);
  row.replaceChildren();
  const buttons = names.map((name, i) => {
    const node = button({ role: "radio" }, row, undefined, () => take(i));
    if (typeof name === "function") name(node); else node.textContent = name;
    return node;
  });
  row.onkeydown = (event) => {
    const goal = itemByKey(event, now, names.length);
    if (goal !== undefined) take(goal);
  };
  mark(chosen);
  return { buttons, mark };
}

// Scrolls a row sideways until one of its buttons is in the middle.
export function centred(row, node) {
  row.scrollLeft = node.offsetLeft - row.offsetLeft - (row.clientWidth - node.offsetWidth) / 2;
}
