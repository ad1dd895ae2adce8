// The causal mask on a translation: one head's attention as a matrix, rows are queries, columns are keys; what may not be
// attended to is hatched. A switch takes the mask away: what was hatched shows its weights in red, and beside each row its
// prediction changes. Both passes arrive with the message, as base64 of float32, so the switch needs no server.
// `given` says which pass is shown, and then there is no switch; `height` is that of the picture.

import { numbersIn } from "../shared/arrays.js";
import { element, focusedIn } from "../shared/dom.js";
import { numbered, standing } from "../shared/numbered_choices.js";
import { radios } from "../shared/radios.js";
import { watchWidth } from "../shared/watch_size.js";
import { matrix } from "./matrix.js";
import { ahead, leaks, said, score } from "./words.js";

function choice(parent, root, { name, label, count, chosen }, heard, report) {
  const list = element("select", { "data-name": name }, element("label", "group", parent, `${label} `));
  for (let index = 0; index < count; index++) list.add(new Option(String(index + 1), String(index)));
  list.selectedIndex = standing(root, name, { chosen, count, heard });
  list.addEventListener("change", () => report(numbered(root, name, list.selectedIndex)));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (root.headlight ??= { free: false });
  const sentence = JSON.stringify([data.reads, data.predicts]);
  if (state.sentence !== sentence) Object.assign(state, { sentence, query: Math.min(1, data.reads.length - 1), key: Math.min(2, data.reads.length - 1) });
  state.data = data;
  const isGiven = data.given !== undefined;
  state.free = isGiven ? data.given : standing(root, "mask", { chosen: Number(data.taken), count: 2, heard: data.heard }) === 1;
  state.passes = [data.masked, data.free].map((pass) => ({ ...pass, weights: numbersIn(pass.weights), mask: numbersIn(pass.mask, "u1") }));
  for (const [name, color] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, color);

  const active = focusedIn(root), focused = active?.dataset.name, wasPointed = active?.matches(".picture");
  const onSwitch = Boolean(active?.closest(".segments"));
  root.replaceChildren();
  const tools = element("div", "tools", root), stage = element("div", "", root);
  const scores = element("p", { class: "score", "aria-live": "polite" }, isGiven ? null : root);
  const spoken = element("p", { class: "said", "aria-live": "polite" }, root);
  const report = (value) => setTriggerValue("chosen", value);
  const take = (index) => { state.free = index === 1; update(); report(numbered(root, "mask", index)); };
  if (!isGiven) {
    const { buttons } = radios(element("div", "segments", tools), "Causal mask", ["With the mask", "Take it away"], Number(state.free), take);
    buttons[1].className = "taken";
  }
  const heads = element("div", "group", tools), leaked = element("span", "leaked", tools, ahead(state));
  choice(heads, root, { name: "layer", label: "Layer", count: data.layers, chosen: data.layer }, data.heard, report);
  choice(heads, root, { name: "head", label: "Head", count: data.heads, chosen: data.head }, data.heard, report);

  const may = () => state.passes[Number(state.free)].mask[state.query * data.reads.length + state.key];
  const words = () => `${said(state)}${data.clickable ? ` Click to ${may() ? "forbid" : "allow"} it.` : ""}`;
  const clicked = () => { if (data.clickable) setTriggerValue("clicked", { query: state.query, key: state.key }); };
  let picture;
  function update() {
    picture.update();
    leaked.style.visibility = state.free && leaks(state) ? "" : "hidden";
    scores.textContent = score(state);
    spoken.textContent = words();
  }
  function draw() {
    const hadFocus = focusedIn(stage);
    picture = matrix(root, stage, state, () => { spoken.textContent = words(); }, clicked);
    update();
    if (hadFocus) stage.firstElementChild.focus({ preventScroll: true });
  }
  draw();
  if (wasPointed) stage.firstElementChild.focus({ preventScroll: true });
  if (onSwitch) root.querySelector(".segments [aria-checked=true]")?.focus({ preventScroll: true });
  if (focused) root.querySelector(`select[data-name="${focused}"]`)?.focus({ preventScroll: true });
  return watchWidth(root, draw);
}
