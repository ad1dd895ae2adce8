// A line of choices: click, or Tab into one and use the arrow keys, Home and End. A choice with very many options is a
// drop-down list. The last part may be a button, such as one that makes a choice for the reader. If one line is too
// short for all, the first choice has a line of its own, and the others stay together.

import { button, element } from "../shared/dom.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { radios } from "../shared/radios.js";
import { watchWidth } from "../shared/watch_size.js";

const mostButtons = () => (matchMedia("(max-width: 640px)").matches ? 4 : 16);  // a finger needs 44 px for each

function opened(part, { label, texts, chosen, disabled }, choose) {
  const list = element("select", { "aria-label": label }, part);
  texts.forEach((text, index) => list.add(new Option(text, String(index), false, index === chosen)));
  list.disabled = disabled;
  list.addEventListener("change", () => choose(list.selectedIndex));
}

function laidOut(part, { label, texts, chosen, disabled }, choose) {
  const row = element("div", { class: "segments", "aria-disabled": disabled }, part);
  for (const node of radios(row, label, texts, chosen, choose).buttons) node.disabled = disabled;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const draw = () => show(root, data, setTriggerValue);
  draw();
  return watchWidth(root, draw);
}

function show(root, data, setTriggerValue) {
  const focused = root.getRootNode().activeElement?.closest("[data-name]")?.dataset.name;
  const line = element("div", "switches"), others = element("div", "others");
  const part = (name) => element("div", { "data-name": name }, line.childElementCount ? others : line);
  for (const choice of data.choices) {
    const place = part(choice.name);
    element("span", "", place, choice.label);
    const choose = (index) => setTriggerValue("chosen", numbered(root, choice.name, index));
    const chosen = currentChoice(root, choice.name, { chosen: choice.chosen, count: choice.texts.length, received: data.received });
    (choice.texts.length > mostButtons() ? opened : laidOut)(place, { ...choice, chosen }, choose);
  }
  if (data.button) {
    const { text, help, disabled } = data.button;
    button({ title: help }, part("button"), text, () => setTriggerValue("pressed", true)).disabled = disabled;
  }
  if (others.childElementCount) line.appendChild(others);
  root.replaceChildren(line);
  const again = focused && line.querySelector(`[data-name="${focused}"] :is([aria-checked="true"], select, button:not([role]))`);
  again?.focus({ preventScroll: true });
}
