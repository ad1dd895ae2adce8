// Below the small pictures: facts about the head, or, if two words are chosen, the heads that link them most. In place
// of the small pictures: how one weight is computed.

import { ask } from "./numbers.js";
import { fixed, percent } from "../shared/numbers.js";
import { button, element, focusedIn } from "../shared/dom.js";
import { plain } from "./message.js";

const LINKED = 6;

// Near 100% heads differ in the first decimal.
const finer = (share) => (share >= 0.0995 ? `${(100 * share).toFixed(1)}%` : percent(share));

export function showFacts(view, here) {
  const place = view.facts, kind = view.message.kind[here.kind], { query, key } = view.pins;
  const two = query !== null && key !== null;
  const exact = two ? ask(view, { asks: "link", kind: kind.name, layer: 0, head: 0, query, key })?.weights : null;
  const shows = JSON.stringify(two ? [view.message.id, view.here, query, key, Boolean(exact)] : [view.message.id, here, Boolean(view.preview)]);
  if (place.dataset.shows === shows) return;
  place.dataset.shows = shows;
  place.replaceChildren();
  if (two) { linked(view, place, kind, exact); return; }
  const line = element("div", "who", place);
  element("b", "", line, `Layer ${here.layer + 1}, head ${here.head + 1}`);
  const opens = kind.opening[0] === here.layer && kind.opening[1] === here.head;
  if (view.preview) element("span", "", line, " (preview)");
  else if (!opens) {
    button("link", line, "Back to the head shown first", () => view.chooseHead({ layer: kind.opening[0], head: kind.opening[1] }));
  }
  const count = kind.layers * kind.heads;
  element("div", "why", place, opens && !view.preview ? kind.why : count === 1 ? "The only head of this kind." : `One of ${count} heads. Point to preview, click to choose.`);
}

// Of two words, the heads that link them most.
function linked(view, place, kind, exact) {
  const { query, key } = view.pins, size = kind.queries * kind.keys, at = query * kind.keys + key;
  const all = Array.from({ length: kind.layers * kind.heads }, (_, i) => [exact ? exact[i] : kind.weights[i * size + at] / 255, i]);
  const found = all.sort((a, b) => b[0] - a[0]).slice(0, LINKED);
  const title = element("div", "who", place);
  element("b", "", title, `Heads that link “${plain(view.both.keys.tokens[key])}” and “${plain(view.both.queries.tokens[query])}”`);
  if (!kind.mask[at]) { element("div", "why", place, "None: this weight is masked."); return; }
  const list = element("div", "linked", place);
  for (const [weight, i] of found) {
    const layer = Math.floor(i / kind.heads), head = i % kind.heads;
    const node = button("", list, undefined, () => view.chooseHead({ layer, head }));
    element("span", "", node, `layer ${layer + 1}, head ${head + 1}`);
    element("span", "number", node, exact ? finer(weight) : "");
    if (layer === view.here.layer && head === view.here.head) node.setAttribute("aria-current", "true");
    node.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") view.previewHead({ layer, head }); });
    node.addEventListener("pointerleave", () => view.previewHead(null));
  }
  button("link", place, "How this head's weight is computed", () => view.open({ query, key }));
}

// How one weight is computed, with the numbers of the tensors.
export function showCell(view) {
  const place = view.computed, cell = view.cell;
  place.hidden = !cell;
  view.heads.part.hidden = Boolean(cell);
  if (!cell) { place.replaceChildren(); return; }
  const found = ask(view, { asks: "cell", ...view.here, ...cell });
  const name = JSON.stringify([view.here, cell, Boolean(found)]);
  if (place.dataset.shows === name && place.childElementCount) return;
  place.dataset.shows = name;
  const focused = focusedIn(place);
  place.replaceChildren();
  const { keys, queries } = view.both, query = plain(queries.tokens[cell.query]), key = plain(keys.tokens[cell.key]);
  const head = element("div", "title", place);
  element("b", "", head, `How “${query}” weighs “${key}”`);
  const close = button({ class: "close", "aria-label": "Close the calculation" }, head, "×", () => view.open(null));
  element("div", "why", place, `Layer ${view.here.layer + 1}, head ${view.here.head + 1}`);
  if (!found) element("div", "why", place, "Asking the model for the numbers …");
  else calculation(view, place, found, { ...cell, keyName: key, queryName: query });
  if (focused || view.focusCell) close.focus({ preventScroll: true });
  view.focusCell = false;
}

const short = (value) => fixed(value, 2);

function calculation(view, place, found, { key, keyName, queryName }) {
  const steps = element("ol", "steps", place), step = (text) => { const item = element("li", "", steps); element("div", "", item, text); return item; };
  const masked = found.scores[key] === null;
  strip(step(`The query of “${queryName}” times the key of “${keyName}”, term by term, summed: q·k = ${short(found.product)}`), found.query.map((value, i) => value * found.keyVector[i]));
  step(masked ? "Masked: its score becomes −∞" : `Divided by √d_k = √${found.width} = ${short(Math.sqrt(found.width))}: score ${short(found.scores[key])}`);
  const row = step("Softmax: e to the score, divided by the sum over the row");
  const order = found.weights.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]);
  const shown = order.slice(0, 4);
  if (!shown.some(([, i]) => i === key)) shown[shown.length - 1] = order.find(([, i]) => i === key);
  const table = element("div", "scores", row);
  for (const [weight, i] of shown) {
    const line = element("div", i === key ? "score this" : "score", table);
    element("span", "token-name", line, plain(view.both.keys.tokens[i]));
    element("span", "number", line, found.scores[i] === null ? "−∞" : short(found.scores[i]));
    const bar = element("span", "bar", line);
    element("span", "filled", bar).style.width = `${100 * weight}%`;
    element("span", "number", line, percent(weight));
  }
  if (order.length > shown.length) element("div", "why", row, `${order.length - shown.length} other keys share the rest of the 100%`);
  const share = found.context > 0 ? found.added / found.context : 0;
  strip(step(`Adds ${percent(found.weights[key])} of the value of “${keyName}” to the output: length ${short(found.added)}${share ? `, the sum of all has ${short(found.context)}` : ""}`), found.value.map((value) => value * found.weights[key]));
  if (!view.standing.acts) return;
  button("link", place, "Every term of it: Query, key, value", () => view.act("hand", view.cell.query, view.cell.key));
}

// Signed numbers as a strip of cells, amber to teal; its strongest colour is the largest of them.
function strip(parent, values) {
  const most = Math.max(...values.map(Math.abs), 1e-12);
  const box = element("div", { class: "strip", role: "img", "aria-label": `${values.length} numbers, the largest ${short(most)} in size` }, parent);
  for (const value of values) element("i", value < 0 ? "minus" : "plus", box).style.opacity = (Math.abs(value) / most).toFixed(3);
}
