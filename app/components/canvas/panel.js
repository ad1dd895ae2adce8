// Below the small pictures: facts about the head, or, if two words are chosen, the heads that link them most. In place
// of the small pictures: how one weight is computed.

import { maskOf } from "./message.js";
import { ask, DECIMALS } from "./numbers.js";
import { typeset } from "../shared/formula.js";
import { byTouch } from "../shared/hints.js";
import { _, ngettext } from "../shared/language.js";
import { fixed, percent, percentWith } from "../shared/numbers.js";
import { button, element, focusedIn } from "../shared/dom.js";
import { inWords, quoted } from "../shared/token.js";

const LINKED = 6, DIGITS = [1, 2, 3];
const NAMED = 3;  // terms of the dot product that are written

// The weights (the largest first) as texts, each with just as many digits as it needs to differ from its neighbours.
function ordered(weights) {
  const text = (share, digits) => {
    const written = percentWith(share, digits);
    return share < 0.001 || (share < 1 && written.startsWith("100")) ? percent(share, digits) : written;
  };
  const differs = (i, j, digits) => weights[j] === undefined || text(weights[i], digits) !== text(weights[j], digits);
  return weights.map((share, i) => text(share, DIGITS.find((digits) => differs(i, i - 1, digits) && differs(i, i + 1, digits)) ?? DIGITS.at(-1)));
}

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
  element("b", "", line, _("Layer {layer}, head {head}", { layer: here.layer + 1, head: here.head + 1 }));
  const opens = kind.opening[0] === here.layer && kind.opening[1] === here.head;
  if (view.preview) element("span", "", line, " " + _("(preview)"));
  else if (!opens) {
    button("link", line, _("Show the suggested head"), () => view.chooseHead({ layer: kind.opening[0], head: kind.opening[1] }));
  }
  const count = kind.layers * kind.heads;
  const oneOf = byTouch() ? _("One of {count} heads. Tap to choose.", { count }) : _("One of {count} heads. Point to preview, click to choose.", { count });
  const role = kind.roles[here.layer][here.head];
  element("div", "role", place, `${role[0].toUpperCase()}${role.slice(1)}.`);
  element("div", "why", place, opens && !view.preview ? kind.why : count === 1 ? _("The only head of this kind.") : oneOf);
}

const maskAt = (kind, i) => maskOf(kind, Math.floor(i / kind.heads), i % kind.heads);
const headName = (kind, i) => _("layer {layer} head {head}", { layer: Math.floor(i / kind.heads) + 1, head: (i % kind.heads) + 1 });
const listed = (names) => (names.length < 2 ? names[0] : _("{names} and {last}", { names: names.slice(0, -1).join(", "), last: names.at(-1) }));

// Whether head `i` attends to this key from this row, and from at least a quarter of the other rows (two or more), each
// time at least half as much.
function attendsAnyway(kind, i, query, key) {
  const weight = (row) => kind.weights[(i * kind.queries + row) * kind.keys + key];
  const mask = maskAt(kind, i);
  const others = Array.from({ length: kind.queries }, (unused, row) => row).filter((row) => row !== query && mask[row * kind.keys + key]);
  const count = others.filter((row) => 2 * weight(row) >= weight(query)).length;
  return weight(query) > 0 && count > 1 && 4 * count >= others.length;
}

// Lists the heads that link the two pinned words most.
function linked(view, place, kind, exact) {
  const { query, key } = view.pins, size = kind.queries * kind.keys, at = query * kind.keys + key;
  const heads = Array.from({ length: kind.layers * kind.heads }, (unused, i) => i).filter((i) => maskAt(kind, i)[at]);
  const all = heads.map((i) => [exact ? exact[i] : kind.weights[i * size + at] / 255, i]);
  const found = all.sort((a, b) => b[0] - a[0]).slice(0, LINKED), shares = exact ? ordered(found.map(([weight]) => weight)) : [];
  const title = element("div", "who", place);
  const linkedKey = quoted(view.both.keys.tokens[key]);
  element("b", "", title, _("Heads that link {key} and {query}", { key: linkedKey, query: quoted(view.both.queries.tokens[query]) }));
  if (!heads.length) { element("div", "why", place, _("None: this weight is masked.")); return; }
  const list = element("div", "linked", place);
  found.forEach(([, i], rank) => {
    const layer = Math.floor(i / kind.heads), head = i % kind.heads;
    const node = button("", list, undefined, () => view.chooseHead({ layer, head }));
    element("span", "", node, _("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 }));
    element("span", "number", node, shares[rank] ?? "");
    if (layer === view.here.layer && head === view.here.head) node.setAttribute("aria-current", "true");
    node.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") view.previewHead({ layer, head }); });
    node.addEventListener("pointerleave", () => view.previewHead(null));
  });
  // This link is above everything whose length depends on the head, so that it does not move
  // (test_the_links_to_the_calculation_stay_in_their_places).
  if (!view.state.alone) button("link", place, _("How the weight of head {layer}.{head} is computed", { layer: view.here.layer + 1, head: view.here.head + 1 }), () => view.open({ query, key }));
  const anyway = found.map(([, i]) => i).filter((i) => attendsAnyway(kind, i, query, key)).map((i) => headName(kind, i));
  if (anyway.length) {
    element("div", "why", place, anyway.length === found.length
      ? _("In each of these heads, several other tokens attend to {key} too.", { key: linkedKey })
      : _("Several other tokens attend to {key} too, in {heads}.", { key: linkedKey, heads: listed(anyway) }));
  }
  const own = all.findIndex(([, i]) => i === view.here.layer * kind.heads + view.here.head);
  if (exact && own >= LINKED) element("div", "why", place, _("The head shown: {weight}, place {place} of {count}.", { weight: percent(all[own][0], DECIMALS), place: own + 1, count: all.length }));
  else if (shares.some((share, i) => share === shares[i - 1] && !share.startsWith("<"))) element("div", "why", place, _("Heads with the same number differ by less than its last digit."));
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
  const { keys, queries } = view.both, query = quoted(queries.tokens[cell.query]), key = quoted(keys.tokens[cell.key]);
  const head = element("div", "title", place);
  element("b", "", head, _("How {query} weighs {key}", { query, key }));
  const close = button({ class: "close", "aria-label": _("Close the calculation") }, head, "×", () => view.open(null));
  element("div", "why", place, _("Layer {layer}, head {head}", { layer: view.here.layer + 1, head: view.here.head + 1 }));
  if (view.state.acts) button("link", place, _("The whole calculation: Query, key, value"), () => view.act("hand", view.cell.query, view.cell.key));
  if (!found) element("div", "why", place, _("Asking the model for the numbers …"));
  // A take-home file has the numbers of one head only.
  else if (found.missing) element("div", "why", place, found.missing);
  else calculation(view, place, found, { ...cell, keyName: key, queryName: query });
  if (focused || view.focusCell) close.focus({ preventScroll: true });
  view.focusCell = false;
}

const short = (value) => fixed(value, 2);
const ROUNDING = 1e-3;  // a larger difference between two scores is not rounding

function calculation(view, place, found, { key, keyName, queryName }) {
  const steps = element("ol", "steps", place), step = (text) => { const item = element("li", "", steps); element("div", "", item, text); return item; };
  const { kind, layer, head } = view.here, allowed = maskOf(view.message.kind[kind], layer, head)[view.cell.query * found.scores.length + key];
  const before = found.product / Math.sqrt(found.width), after = found.scores[key];  // of the softmax; null: −∞
  const terms = found.query.map((value, i) => value * found.keyVector[i]);
  const bars = strip(step(_("Dot product: q·k = {product}", { product: short(found.product) })), terms);
  const caption = element("figcaption", "", bars, _("Its {count} terms: each number of the query of {query} times the same number of the key of {key}. The largest:", { query: queryName, key: keyName, count: terms.length }));
  typeset(element("div", "", caption), largestTerms(terms));
  const score = { width: found.width, root: short(Math.sqrt(found.width)), score: short(before) };
  if (after === null && !allowed) step(_("Masked: its score becomes −∞"));
  else {
    typeset(step("").firstChild, _("Divided by √d_k = √{width} = {root}: score {score}", score));
    const edited = after === null || Math.abs(after - before) > ROUNDING * (1 + Math.abs(before));
    if (edited) step(_("An edit changes this score to {score}", { score: after === null ? "−∞" : short(after) }));
  }
  const row = step(_("Softmax: e to the score, divided by the sum over the row"));
  const order = found.weights.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]);
  const shown = order.slice(0, 4);
  if (!shown.some(([, i]) => i === key)) shown[shown.length - 1] = order.find(([, i]) => i === key);
  const table = element("div", "scores", row);
  for (const [weight, i] of shown) {
    const line = element("div", i === key ? "score this" : "score", table);
    element("span", "token-name", line, inWords(view.both.keys.tokens[i]));
    element("span", "number", line, found.scores[i] === null ? "−∞" : short(found.scores[i]));
    const bar = element("span", "bar", line);
    element("span", "filled", bar).style.width = `${100 * weight}%`;
    element("span", "number", line, percent(weight, DECIMALS));
  }
  const others = order.filter((one) => found.scores[one[1]] !== null && !shown.includes(one)).length;
  if (others > 0) element("div", "why", row, ngettext("{count} other key has the rest of the 100%", "{count} other keys share the rest of the 100%", others));
  const share = found.context > 0 ? found.added / found.context : 0;
  const added = { weight: percent(found.weights[key], DECIMALS), key: keyName, length: short(found.added), sum: short(found.context) };
  strip(step(share
    ? _("Adds {weight} times the value of {key} to the output of the head: a vector of length {length}; the sum over all keys has length {sum}", added)
    : _("Adds {weight} times the value of {key} to the output of the head: a vector of length {length}", added)), found.value.map((value) => value * found.weights[key]));
}

// "q_17·k_17 = 3.20, q_4·k_4 = −1.05": dimensions count from 0, as on the page Query, key, value.
function largestTerms(terms) {
  const order = [...terms.keys()].sort((a, b) => Math.abs(terms[b]) - Math.abs(terms[a])).slice(0, NAMED);
  return order.map((i) => `q_${i}·k_${i} = ${short(terms[i])}`).join(", ");
}

// Signed numbers as bars, up from the middle if positive, down if negative.
function strip(parent, values) {
  const most = Math.max(...values.map(Math.abs), 1e-12), figure = element("figure", "", parent);
  const box = element("div", { class: "strip", role: "img", "aria-label": _("{count} numbers, the largest {largest} in size", { count: values.length, largest: short(most) }) }, figure);
  element("span", "plus", box, "+");
  element("span", "minus", box, "−");
  for (const value of values) {
    const share = (50 * Math.abs(value)) / most;
    element("i", value < 0 ? "minus" : "plus", box).style.cssText = `height:${share.toFixed(1)}%;top:${value < 0 ? 50 : (50 - share).toFixed(1)}%`;
  }
  return figure;
}
