// A row of tokens of which one is chosen: click, or Tab into it and use the arrow keys, Home and End. It takes one line,
// however long the sentence is: a long row scrolls sideways, and the chosen token is in view.

import { asked, marked } from "../shared/arrow_keys.js";
import { numbered, standing } from "../shared/numbered_choices.js";
import { put } from "../shared/token.js";

function named(data) {
  const label = document.createElement("span");
  label.className = "picker-label";
  label.textContent = data.label;
  if (data.second) {
    const second = document.createElement("span");
    second.className = "second";
    second.textContent = "reads → predicts";
    label.appendChild(second);
  }
  return label;
}

function choice(data, index, isChosen) {
  const [token, second] = [data.tokens[index], data.second?.[index]];
  const button = document.createElement("button");
  button.type = "button";
  button.disabled = data.disabled;
  button.setAttribute("role", "radio");
  button.setAttribute("aria-checked", String(isChosen));
  button.setAttribute("aria-label", `${index + 1}: ${token}${data.second ? ` → ${second}` : ""}`);
  button.tabIndex = isChosen ? 0 : -1;
  for (const [className, text] of [["text", token], ["second", second]]) {
    if (text === undefined) continue;
    const span = document.createElement("span");
    span.className = className;
    put(span, className === "second" ? `→ ${text}` : text);
    button.appendChild(span);
  }
  return button;
}

function show(row, button) {
  row.scrollLeft = button.offsetLeft - row.offsetLeft - (row.clientWidth - button.offsetWidth) / 2;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--role", data.color);
  const row = document.createElement("div");
  row.className = "picker";
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", data.second ? `${data.label}: reads → predicts` : data.label);
  row.setAttribute("aria-disabled", String(data.disabled));
  if (data.disabled) row.tabIndex = 0;  // no token can have the focus, and the keys still scroll
  let now = standing(root, "token", { ...data, count: data.tokens.length });
  const buttons = data.tokens.map((_, index) => choice(data, index, index === now));
  const take = (index) => {
    if (index === now) return;
    now = marked(row, index);
    show(row, buttons[now]);
    setTriggerValue("chosen", numbered(root, "token", index));
  };
  buttons.forEach((button, index) => button.addEventListener("click", () => take(index)));
  row.append(...buttons);
  row.addEventListener("keydown", (event) => {
    const goal = asked(event, now, data.tokens.length);
    if (goal !== undefined) take(goal);
  });
  const focused = row.ownerDocument && root.contains(parentElement.activeElement ?? root.getRootNode().activeElement);
  const whole = document.createElement("div");
  whole.className = "picking";
  whole.append(named(data), row);
  root.replaceChildren(whole);
  show(row, buttons[now]);
  if (focused) buttons[now].focus({ preventScroll: true });
}
