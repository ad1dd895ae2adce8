// Queries by keys: scores, mask or weights of one head, with the numbers in the cells where there is room.

import { byTouch } from "../shared/hints.js";
import { _ } from "../shared/language.js";
import { colors, inkOn, painted, signed, weight } from "../shared/shades.js";
import { cellText, decimal } from "../shared/numbers.js";
import { cellUnder, cut, make, pixels, write } from "../shared/svg.js";
import { inWords } from "../shared/token.js";
import { written } from "./dims.js";
import { drawRows, framed, room } from "./rows.js";

const NARROW = 33, SLANT = 17;  // px: least width of a cell with a number; least distance between the names of two keys

function inCell(shownAs, value, masked) {
  if (shownAs === "mask") return value ? "" : _("no");
  if (masked) return shownAs === "weights" ? "" : "−∞";
  if (shownAs === "weights") return cellText(value, "·");
  return written(value, Math.abs(value) < 10 ? 2 : 1);
}

export function drawKeys(view) {
  const { frame, zone, unit, measure, tensor, picture, text, head, tokens, keys, followed, column, data } = view;
  zone.style.height = "0px";
  zone.replaceChildren();
  const [count, across] = [tokens.length, keys.length], shownAs = text.shown_as;
  const base = tensor.shape.length === 3 ? head * count * across : 0;
  const values = tensor.values.subarray(base, base + count * across);
  const masks = picture.mask && data.tensors[picture.mask], first = masks?.shape.length === 3 ? base : 0;
  const mask = masks ? masks.values.subarray(first, first + count * across) : null;
  const hidden = (i) => (shownAs === "mask" ? !values[i] : mask ? !mask[i] : values[i] === -Infinity);
  const table = colors(shownAs === "scores" ? data.scales.signed : data.scales.weights);
  const place = shownAs === "scores" ? signed(picture.limit[picture.limit.length > 1 ? head : 0]) : shownAs === "mask" ? () => 128 : weight;
  const width = frame.clientWidth - 4, height = frame.parentElement.clientHeight - view.read.clientHeight;
  const longest = Math.max(...keys.map((key) => measure(key, 15.2 * unit)));
  const above = Math.min(0.72 * longest + 16 * unit, 84 * unit);
  const { high, left } = room(tokens, height - above - 4, unit, measure);
  const wide = Math.min((width - left - above * 0.8) / across, 72 * unit);
  const top = make("svg", { class: "walk-picture top", width, height: above });
  const every = Math.ceil((SLANT * unit) / wide);
  keys.forEach((key, k) => {
    if (k % every && k !== column) return;
    const x = left + (k + 0.5) * wide;
    const label = make("text", { x, y: above - 5 * unit, transform: `rotate(-45 ${x} ${above - 5 * unit})`, style: `fill: ${data[view.keyRole]}; ${k === column ? "font-weight: 700" : ""}` }, top);
    write(label, cut(key, (above - 12 * unit) / 0.72, 15.2 * unit, measure));
  });
  const svg = make("svg", { class: "walk-picture", width, height: count * high + 3 });
  make("rect", { x: left, y: 0, width: across * wide, height: count * high, fill: data.masked }, svg);
  const image = pixels(svg, { href: painted(values, count, across, table, (value, i) => (hidden(i) ? -1 : place(value))),
    x: left, y: 0, width: across * wide, height: count * high });
  if (wide >= NARROW * unit) {
    values.forEach((value, i) => {
      const label = inCell(shownAs, value, hidden(i));
      if (!label) return;
      const ink = hidden(i) ? "" : `fill: ${inkOn(table[place(value)])}`;
      make("text", { class: "cell value", x: left + ((i % across) + 0.5) * wide, y: (Math.floor(i / across) + 0.5) * high, "text-anchor": "middle", "dominant-baseline": "central", style: `${ink}; pointer-events: none` }, svg, label);
    });
  }
  drawRows(svg, { ...view, color: data[text.rows], top: 0, high, left, label: _("Token that is followed") });
  if (column !== null) framed(svg, left + column * wide, 1, wide, count * high - 2, data.chosen, 1.3 * unit);
  framed(svg, left, followed * high, across * wide, high, data.chosen, 2.5 * unit);
  frame.replaceChildren(top, svg);
  const usual = `${defaultText(shownAs, inWords(tokens[followed]), keys, values.subarray(followed * across, (followed + 1) * across))} ${whichNames(every)}`.trimEnd();
  view.read.textContent = usual;
  const at = (event) => cellUnder(event, image, count, across);
  const textAt = (event) => {
    const [q, k] = at(event) ?? [], i = q * across + k;
    if (values[i] === undefined) return usual;
    const shown = shownAs === "mask" ? (values[i] ? _("may attend") : _("masked")) : shownAs !== "weights" ? written(values[i]) : hidden(i) ? _("masked") : decimal(values[i], 4);
    return _("query {query}, key {key}: {said}", { query: inWords(tokens[q]), key: inWords(keys[k]), said: shown });
  };
  readCells(image, view, textAt, usual, (event) => at(event)?.[0] ?? followed);
  return { at: followed * high, high, total: above + count * high };
}

// The framed row in words.
function defaultText(shownAs, token, keys, row) {
  if (shownAs === "scores") return byTouch() ? _("Rows are queries, columns are keys. Tap a cell for its number.") : _("Rows are queries, columns are keys. Point at a cell for its number.");
  if (shownAs === "weights") {
    const attended = [...row.keys()].filter((k) => row[k] > 0).sort((a, b) => row[b] - row[a]), most = attended.slice(0, 3);
    if (!most.length) return _("{token} attends to no key: its row is masked.", { token });
    return _("{token} attends to {keys}", { token, keys: `${most.map((k) => `${inWords(keys[k])} ${decimal(row[k])}`).join(", ")}${attended.length > 3 ? " …" : ""}` });
  }
  return _("{token} may attend to {allowed} of {count} keys.", { token, allowed: row.filter(Boolean).length, count: row.length });
}

function whichNames(every) {
  if (every < 2) return "";
  if (every === 2) return _("Every second key is named.");
  return every === 3 ? _("Every third key is named.") : _("Every {number}th key is named.", { number: every });
}
