// Tokens by dimensions: for each token a row of colours and the length of its vector. Below are the vectors from which
// the followed row was computed and the row itself; where the station has no such vectors, numbers of the row.

import { byTouch } from "../shared/hints.js";
import { _ } from "../shared/language.js";
import { decimals, fixed, grouped } from "../shared/numbers.js";
import { colors, painted, signed } from "../shared/shades.js";
import { cellUnder, make, pixels } from "../shared/svg.js";
import { inWords } from "../shared/token.js";
import { drawRows, framed, readCells, room } from "./rows.js";

const HEAD = 20, RIGHT = 92, STRIP = 22, PITCH = 27;  // px at 1280x720

export const written = (value, digits = 4) => (value === -Infinity ? "−∞" : fixed(value, digits));
const short = (value) => written(value, Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
const length = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));

function moments(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return [mean, Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)];
}

// The text beside the strip of a vector.
function summary(shownAs, values, last) {
  if (shownAs === "norm") return "μ " + moments(values).map((value) => written(value, 2)).join(", σ ");
  if (shownAs === "hidden" && last) return _("{share}% above 0", { share: decimals((100 * values.filter((value) => value > 0).length) / values.length, 0) });
  return _("length {length}", { length: short(length(values)) });
}

export function drawDims(view) {
  const { frame, zone, unit, measure, tensor, picture, text, head, tokens, followed, data } = view;
  const [columns] = tensor.shape.slice(-1), count = tokens.length;
  const base = tensor.shape.length === 3 ? head * count * columns : 0;
  const row = (values, i, wide, from = 0) => values.subarray(from + i * wide, from + (i + 1) * wide);
  const limit = picture.limit[picture.limit.length > 1 ? head : 0], table = colors(data.scales.signed);
  const nameOf = ({ name, replaced }) => (replaced?.includes(followed) ? _("edited") : name);
  const strips = picture.parts.map((part) => ({ ...part, name: nameOf(part), ...data.tensors[part.site] }));
  const low = (Math.max(strips.length, 2) * PITCH + 6) * unit;
  zone.style.height = `${low}px`;
  const width = frame.clientWidth, height = frame.parentElement.clientHeight - low - view.read.clientHeight;
  let { high, left } = room(tokens, height - (HEAD + 2) * unit - 1, unit, measure);
  left = Math.max(left, ...strips.map(({ name }) => 1.08 * measure(name, 15.2 * unit) + 10 * unit));
  const across = Math.max(width - left - RIGHT * unit - 4, 40), total = HEAD * unit + count * high;
  const top = make("svg", { class: "walk-picture top", width: width - 4, height: HEAD * unit });
  const size = { count: grouped(columns) }, isHidden = text.shown_as === "hidden";
  make("text", { class: "small", x: left, y: 13 * unit }, top, isHidden ? _("{count} units", size) : _("{count} dimensions", size));
  make("text", { class: "small", x: width - 6, y: 13 * unit, "text-anchor": "end" }, top, _("length"));
  const svg = make("svg", { class: "walk-picture", width: width - 4, height: count * high + 2 * unit });
  const image = pixels(svg, { href: painted(row(tensor.values, 0, count * columns, base), count, columns, table, signed(limit)),
    x: left, y: 0, width: across, height: count * high });
  for (let i = 0; i < count; i += 1) {
    make("text", { class: "small value", x: width - 6, y: (i + 0.5) * high, "text-anchor": "end", "dominant-baseline": "central" }, svg, short(length(row(tensor.values, i, columns, base))));
  }
  drawRows(svg, { ...view, color: data[text.rows], top: 0, high, left, label: _("Token that is followed") });
  framed(svg, left, followed * high, across, high, data.chosen, 2.5 * unit);
  frame.replaceChildren(top, svg);
  const own = row(tensor.values, followed, columns, base);
  const below = make("svg", { class: "walk-picture", width: width - 4, height: low });
  if (strips.length) {
    strips.forEach(({ values, name, limit: end }, i) => {
      const part = row(values, followed, columns), y = (6 + i * PITCH) * unit, middle = y + (STRIP / 2) * unit;
      make("text", { x: left - 8 * unit, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, below, name);
      pixels(below, { href: painted(part, 1, columns, table, signed(end)), x: left, y, width: across, height: STRIP * unit });
      make("text", { class: "small value", x: width - 6, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, below, summary(text.shown_as, part, i === strips.length - 1));
    });
  } else {
    const fits = Math.max(Math.floor(across / (52 * unit)), 2), some = columns > fits ? [...own.subarray(0, fits - 2), null, own[columns - 1]] : [...own];
    make("text", { x: left - 8 * unit, y: 20 * unit, "text-anchor": "end", "dominant-baseline": "central" }, below, _("this row"));
    some.forEach((value, i) => make("text", { class: "small value", x: left + (i + 0.5) * (across / some.length), y: 20 * unit, "text-anchor": "middle", "dominant-baseline": "central" }, below, value === null ? "…" : short(value)));
    make("rect", { class: "mark", x: left, y: 6 * unit, width: across, height: 28 * unit, rx: 4 * unit, stroke: data.chosen, "stroke-width": 1.5 * unit }, below);
  }
  zone.replaceChildren(below);
  const end = { limit: short(limit) };
  const usual = byTouch() ? _("Colours end at ±{limit}. Tap a cell for its number.", end) : _("Colours end at ±{limit}. Point at a cell for its number.", end);
  view.read.textContent = usual;
  const at = (event) => cellUnder(event, image, count, columns);
  const textAt = (event) => {
    const [r, c] = at(event) ?? [], value = tensor.values[base + r * columns + c];
    if (value === undefined) return usual;
    const values = { token: inWords(tokens[r]), number: c, value: written(value) };
    return isHidden ? _("{token}, unit {number}: {value}", values) : _("{token}, dimension {number}: {value}", values);
  };
  readCells(image, view, textAt, usual, (event) => at(event)?.[0] ?? followed);
  return { at: followed * high, high, total };
}
