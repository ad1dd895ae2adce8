// What the picture shows, in one sentence.

import { byTouch, forTouch } from "../shared/hints.js";
import { _, withLabel } from "../shared/language.js";
import { DECIMALS, exactOf, weightText } from "./numbers.js";
import { maskOf, ofHead, sides } from "./message.js";
import { inWords, quoted } from "../shared/token.js";

// The places of the weights above 0 in one row or column, the largest weight first.
function strongest(view, here, focus) {
  const kind = view.message.kind[here.kind];
  const weights = exactOf(view, here.kind, here.layer, here.head) ?? ofHead(kind, here.layer, here.head);
  const along = focus.query !== null
    ? Array.from({ length: kind.keys }, (unused, k) => [weights[focus.query * kind.keys + k], k])
    : Array.from({ length: kind.queries }, (unused, q) => [weights[q * kind.keys + focus.key], q]);
  return along.filter(([weight]) => weight > 0).sort((a, b) => b[0] - a[0]).map(([, place]) => place);
}

export function sentence(view, here, focus) {
  if (focus.query !== null && focus.key !== null) return cellSentence(view, here, focus);
  const isHeld = view.form === "arcs" && (focus.query !== null ? view.pins.query === focus.query : focus.key !== null && view.pins.key === focus.key);
  const asks = isHeld && !view.whole ? " " + forTouch(_("Click a word on the other side: which heads link the two?")) : "";
  if (focus.query !== null) return querySentence(view, here, focus) + asks;
  if (focus.key !== null) return keySentence(view, here, focus) + asks;
  return usualHint(view, here);
}

// What a sentence about a query begins with: when, and which head.
function startOf(view, here, query) {
  const { queries, writes } = sides(view.message, here.kind), token = quoted(queries.tokens[query]);
  return {
    when: writes ? _("While {token} is written,", { token }) : _("For {token},", { token }),
    head: view.preview ? _("layer {layer}, head {head}", { layer: here.layer + 1, head: here.head + 1 }) : _("this head"),
  };
}

function cellSentence(view, here, { query, key }) {
  const kind = view.message.kind[here.kind], start = startOf(view, here, query);
  const cell = { ...start, key: quoted(sides(view.message, here.kind).keys.tokens[key]), share: weightText(view, here, query, key, DECIMALS) };
  if (!maskOf(kind, here.layer, here.head)[query * kind.keys + key]) {
    return here.kind === "decoder" && key > query
      ? _("{when} {head} cannot attend to {key}: it comes later, so it is masked.", cell)
      : _("{when} {head} cannot attend to {key}: it is masked.", cell);
  }
  return cell.share ? _("{when} {head} gives {share} of its attention to {key}.", cell) : _("{when} {head} attends to {key}.", cell);
}

function querySentence(view, here, focus) {
  const { keys } = sides(view.message, here.kind), start = startOf(view, here, focus.query);
  const [first, second] = strongest(view, here, focus);
  if (first === undefined) return _("{when} {head} attends to nothing.", start);
  const row = { ...start, key: quoted(keys.tokens[first]), share: weightText(view, here, focus.query, first, DECIMALS) };
  if (!row.share) return _("{when} {head} attends most to {key}.", row);
  const other = second === undefined ? "" : weightText(view, here, focus.query, second);
  return other && parseFloat(other) >= 5 && !other.startsWith("<")
    ? _("{when} {head} gives {share} of its attention to {key}, and {other} to {second}.", { ...row, other, second: quoted(keys.tokens[second]) })
    : _("{when} {head} gives {share} of its attention to {key}.", row);
}

// Whether no query of a head may attend to this key.
function isMasked(kind, { layer, head }, key) {
  const mask = maskOf(kind, layer, head);
  return Array.from({ length: kind.queries }, (unused, q) => mask[q * kind.keys + key]).every((may) => !may);
}

// A byte of 0 stands for a weight below 1/510, so before the exact weights are here the most attention is not known.
function keySentence(view, here, focus) {
  const { keys, queries, writes } = sides(view.message, here.kind), key = quoted(keys.tokens[focus.key]);
  const [first] = strongest(view, here, focus);
  if (first === undefined) {
    return exactOf(view, here.kind, here.layer, here.head) || isMasked(view.message.kind[here.kind], here, focus.key)
      ? _("No query attends to {key}.", { key })
      : _("{key} gets less than 0.2% of the attention of any query.", { key });
  }
  const column = { key, query: quoted(queries.tokens[first]), share: weightText(view, here, first, focus.key, DECIMALS) };
  if (writes) {
    return column.share
      ? _("Of all steps, the one that writes {query} attends most to {key}: {share}.", column)
      : _("Of all steps, the one that writes {query} attends most to {key}.", column);
  }
  return column.share ? _("{key} gets the most attention from {query}: {share}.", column) : _("{key} gets the most attention from {query}.", column);
}

// What a reader can do, while nothing is pointed at.
function usualHint(view, here) {
  if (view.preview) return _("Preview of layer {layer}, head {head}. Click to choose it.", { layer: here.layer + 1, head: here.head + 1 });
  const what = sides(view.message, here.kind).writes
    ? byTouch() ? _("Tap a word: what does this head attend to?") : _("Point at a word: what does this head attend to?")
    : byTouch() ? _("Tap a word: what does it attend to in this head?") : _("Point at a word: what does it attend to in this head?");
  const link = view.layout.flat ? _("Click one word of each row: which heads link them?") : _("Click one word on each side: which heads link them?");
  if (view.state.alone) return `${what} ${forTouch(link)}`;
  if (view.form === "matrix") return [what, forTouch(_("Click a cell: how is its weight computed?"))].join(" ");
  const arc = forTouch(_("Click an arc: how is it computed?"));
  // In a lecture there is room for two lines.
  return view.whole ? `${what} ${arc}` : [what, arc, forTouch(link)].join(" ");
}

export function alternativeText(view, here) {
  const kind = view.message.kind[here.kind], { keys, queries } = sides(view.message, here.kind);
  const rows = queries.tokens.slice(0, 40).map((token, query) => {
    const [place] = strongest(view, here, { query, key: null });
    return place === undefined ? _("{token}: nothing", { token: inWords(token) }) : withLabel(inWords(token), inWords(keys.tokens[place]));
  });
  const values = { kind: kind.title, layer: here.layer + 1, head: here.head + 1, rows: rows.join("; ") };
  return _("{kind}, layer {layer}, head {head}. The token that each query attends to most. {rows}.", values);
}

