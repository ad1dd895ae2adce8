// The causal mask on a translation: one head's attention as a matrix, rows are queries, columns are keys; what may not be
// attended to is hatched. A switch takes the mask away: what was hatched shows its weights in red, and beside each row its
// prediction changes. Both passes arrive with the message, as base64 of float32, so the switch needs no server.
// `given` says which pass is shown, and then there is no switch; `height` is that of the picture.

import { numbered, standing } from "../shared/numbered_choices.js";
import { watchSize } from "../shared/watch_size.js";
import { matrix } from "./matrix.js";
import { ahead, leaks, said, score } from "./words.js";

function floats(base64) {
  return new Float32Array(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer);
}

const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

function choice(root, { name, label, count, chosen }, heard, report) {
  const group = document.createElement("label"), list = document.createElement("select");
  group.className = "group";
  group.append(`${label} `, list);
  for (let index = 0; index < count; index++) list.add(new Option(String(index + 1), String(index)));
  list.selectedIndex = standing(root, name, { chosen, count, heard });
  list.dataset.name = name;
  list.addEventListener("change", () => report(numbered(root, name, list.selectedIndex)));
  return group;
}

function maskSwitch(state, redraw) {
  const group = document.createElement("div");
  group.className = "segments";
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", "Causal mask");
  [["With the mask", false], ["Take it away", true]].forEach(([text, free]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.className = free ? "taken" : "";
    button.setAttribute("role", "radio");
    button.addEventListener("click", () => { state.free = free; redraw(); });
    button.addEventListener("keydown", (event) => {
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      state.free = !free;
      redraw();
      group.querySelector('[aria-checked="true"]').focus();
    });
    group.appendChild(button);
  });
  return group;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (root.headlight ??= { free: false });
  const sentence = JSON.stringify([data.reads, data.predicts]);
  if (state.sentence !== sentence) Object.assign(state, { sentence, query: Math.min(1, data.reads.length - 1), key: Math.min(2, data.reads.length - 1) });
  state.data = data;
  const isGiven = data.given !== undefined;
  if (isGiven) state.free = data.given;
  state.passes = [data.masked, data.free].map((pass) => ({ ...pass, weights: floats(pass.weights), mask: bytes(pass.mask) }));
  for (const [name, color] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, color);

  const focused = root.getRootNode().activeElement?.dataset?.name;
  const tools = document.createElement("div"), stage = document.createElement("div");
  const scores = document.createElement("p"), spoken = document.createElement("p");
  tools.className = "tools";
  scores.className = "score";
  spoken.className = "said";
  for (const line of [scores, spoken]) line.setAttribute("aria-live", "polite");
  const segments = maskSwitch(state, () => update());
  const report = (value) => setTriggerValue("chosen", value);
  const heads = document.createElement("div"), leaked = document.createElement("span");
  heads.className = "group";
  leaked.className = "leaked";
  heads.append(
    choice(root, { name: "layer", label: "Layer", count: data.layers, chosen: data.layer }, data.heard, report),
    choice(root, { name: "head", label: "Head", count: data.heads, chosen: data.head }, data.heard, report));
  leaked.textContent = ahead(state);
  tools.append(...(isGiven ? [] : [segments]), heads, leaked);
  root.replaceChildren(tools, stage, ...(isGiven ? [] : [scores]), spoken);

  let picture;
  function update() {
    [...segments.children].forEach((button, free) => {
      button.setAttribute("aria-checked", String(Boolean(free) === state.free));
      button.tabIndex = Boolean(free) === state.free ? 0 : -1;
    });
    picture.update();
    leaked.style.visibility = state.free && leaks(state) ? "" : "hidden";
    scores.textContent = score(state);
    spoken.textContent = said(state);
  }
  function draw() {
    const hadFocus = stage.contains(root.getRootNode().activeElement);
    picture = matrix(root, stage, state, () => { spoken.textContent = said(state); });
    update();
    if (hadFocus) stage.firstElementChild.focus({ preventScroll: true });
  }
  draw();
  if (focused) root.querySelector(`select[data-name="${focused}"]`)?.focus({ preventScroll: true });
  let before = root.clientWidth;
  const watcher = watchSize(root, () => {
    if (Math.abs(root.clientWidth - before) < 2) return;
    before = root.clientWidth;
    draw();
  });
  return () => watcher.disconnect();
}
