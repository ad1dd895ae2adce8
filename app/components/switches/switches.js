// A line of choices: click, or Tab into one and use the arrow keys, Home and End. One with very many options is a list to
// open. After them may stand a button that chooses by itself. Where one line is too short for all, the first choice has it
// alone, and the others stay together.

import { asked, marked } from "../shared/arrow_keys.js";
import { numbered, standing } from "../shared/numbered_choices.js";

const MOST_BUTTONS = 16;

function opened(choice, choose) {
  const list = document.createElement("select");
  choice.texts.forEach((text, index) => list.add(new Option(text, String(index), false, index === choice.chosen)));
  list.setAttribute("aria-label", choice.label);
  list.disabled = choice.disabled;
  list.addEventListener("change", () => choose(list.selectedIndex));
  return list;
}

function laidOut(choice, choose) {
  const row = document.createElement("div");
  let chosen = choice.chosen;
  const take = (index) => { if (index !== chosen) choose(chosen = marked(row, index)); };
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", choice.label);
  row.setAttribute("aria-disabled", String(choice.disabled));
  choice.texts.forEach((text, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.disabled = choice.disabled;
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(index === choice.chosen));
    button.tabIndex = index === choice.chosen ? 0 : -1;
    button.addEventListener("click", () => take(index));
    row.appendChild(button);
  });
  row.addEventListener("keydown", (event) => {
    const goal = asked(event, chosen, choice.texts.length);
    if (goal !== undefined) take(goal);
  });
  return row;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const focused = root.getRootNode().activeElement?.closest("[data-name]")?.dataset.name;
  const line = document.createElement("div"), others = document.createElement("div");
  line.className = "switches";
  others.className = "others";
  const add = (name, ...parts) => {
    const part = document.createElement("div");
    part.dataset.name = name;
    part.append(...parts);
    (line.childElementCount ? others : line).appendChild(part);
  };
  for (const choice of data.choices) {
    const label = document.createElement("span");
    label.textContent = choice.label;
    const choose = (index) => setTriggerValue("chosen", numbered(root, choice.name, index));
    const chosen = standing(root, choice.name, { chosen: choice.chosen, count: choice.texts.length, heard: data.heard });
    add(choice.name, label, (choice.texts.length > MOST_BUTTONS ? opened : laidOut)({ ...choice, chosen }, choose));
  }
  if (data.button) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = data.button.text;
    button.title = data.button.help;
    button.disabled = data.button.disabled;
    button.addEventListener("click", () => setTriggerValue("pressed", true));
    add("button", button);
  }
  if (others.childElementCount) line.appendChild(others);
  root.replaceChildren(line);
  const again = focused && line.querySelector(`[data-name="${focused}"] :is([aria-checked="true"], select, button:not([role]))`);
  again?.focus({ preventScroll: true });
}
