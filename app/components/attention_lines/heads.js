// Buttons for the heads of the layer. Pressed: its lines are drawn. A double click leaves only this one.

import { draw } from "./picture.js";

export function chooseHeads(root, state) {
  const { data } = state;
  const bar = root.querySelector(".heads");
  bar.replaceChildren();
  root.onkeydown = null;
  if (!data.heads) return;
  const label = document.createElement("span");
  label.textContent = "Heads";
  bar.appendChild(label);
  const set = (on) => {
    if (!on.length) return;  // the last one stays
    state.on = new Set(on);
    buttons.forEach((button, j) => button.setAttribute("aria-pressed", String(state.on.has(j))));
    draw(root, state);
  };
  const toggle = (j) => set(data.heads.map((_, i) => i).filter((i) => state.on.has(i) !== (i === j)));
  const add = (text, title, action) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = title;
    button.addEventListener("click", action);
    bar.appendChild(button);
    return button;
  };
  const buttons = data.heads.map(({ color, dashed }, j) => {
    const button = add(`${j + 1}`, `Head ${j + 1}: on or off (a double click leaves only this one)`, () => toggle(j));
    button.className = dashed ? "head dashed" : "head";
    button.style.setProperty("--role", color);
    button.setAttribute("aria-label", `Head ${j + 1}`);
    button.setAttribute("aria-pressed", String(state.on.has(j)));
    button.addEventListener("dblclick", () => set([j]));
    return button;
  });
  if (data.heads.length > 1) {
    add("all", "All heads of this layer", () => set(data.heads.map((_, j) => j)));
    add("one", `Only head ${data.chosen + 1}, the chosen one`, () => set([data.chosen]));
  }
  root.onkeydown = (event) => {
    const j = "123456789".indexOf(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || j < 0 || j >= data.heads.length) return;
    event.preventDefault();
    event.stopPropagation();
    toggle(j);
  };
}
