// A small map of one head: a square for each weight, in the hue of its kind of attention; a larger weight is darker.
// Tokens are along its sides, in a long sentence every other token or fewer. A square is chosen by pointing at it or by the
// arrow keys; then its two tokens and its weight are reported in words.

import { cellByKey } from "./arrow_keys.js";
import { numbersIn } from "./arrays.js";
import { within } from "./dom.js";
import { _ } from "./language.js";
import { decimal } from "./numbers.js";
import { onPointing } from "./pointing.js";
import { cut, make, write } from "./svg.js";

const TOKEN = 14, APART = 13;  // px at 1280x720: font size; least distance from one name to the next
const SHADES = 16;

// A root, because the weights of a long sentence are small.
const shade = (weight) => Math.sqrt(within(weight, 0, 1));

// Weights from base64, 16 bits each.
export function unpacked(text) {
  return Float32Array.from(numbersIn(text, "u2"), (value) => value / 65535);
}

// Makes the map, an SVG in `place` that is at most `width` px wide and `height` px high, still without weights. Returns
// functions that draw weights and mark a row. `allowed` has a letter for each square: "0" if the mask forbids it.
// `pointed` gets the words of the chosen square, "" for none, also after other weights are drawn.
export function headMap(place, { rows, columns, color, about, allowed }, { width, height, measure, unit, pointed }) {
  const size = TOKEN * unit;
  const longest = (tokens) => Math.max(...tokens.map((token) => measure(token, size)));
  const left = Math.min(longest(rows), 0.3 * width) + 6 * unit;
  const above = Math.min(longest(columns), 0.3 * height) + 6 * unit;
  const side = Math.min((width - left) / columns.length, (height - above) / rows.length, 44 * unit);
  const svg = make("svg", { width: left + side * columns.length, height: above + side * rows.length, role: "img", tabindex: 0, "aria-label": about, class: "head-map" }, place);
  svg.style.width = "auto";
  const every = Math.max(1, Math.ceil((APART * unit) / side));
  const names = (tokens, draw) => tokens.forEach((token, i) => { if (i % every === 0) draw(token, (i + 0.5) * side); });
  names(rows, (token, at) => write(make("text", { x: left - 5 * unit, y: above + at, "font-size": size, class: "row" }, svg), cut(token, left - 6 * unit, size, measure)));
  names(columns, (token, at) => {
    const x = left + at, y = above - 5 * unit;
    write(make("text", { x, y, "font-size": size, class: "column", transform: `rotate(-90 ${x} ${y})` }, svg), cut(token, above - 6 * unit, size, measure));
  });
  const ground = make("rect", { x: left, y: above, width: side * columns.length, height: side * rows.length, class: "ground" }, svg);
  ground.style.fill = color;
  const cells = rows.flatMap((row, q) => columns.map((column, k) => {
    const cell = make("rect", { x: left + k * side, y: above + q * side, width: side, height: side, class: "cell" }, svg);
    const masked = allowed?.[q * columns.length + k] === "0";
    cell.classList.toggle("masked", masked);
    if (!masked) cell.style.fill = color;
    return cell;
  }));
  const frame = make("rect", { x: left, width: side * columns.length, height: side, class: "frame" }, svg);
  frame.style.display = "none";
  const edge = make("rect", { width: side, height: side, class: "edge" }, svg);
  edge.style.display = "none";
  let shown = [], at = null;  // the weights; the row and the column of the chosen square
  const report = () => {
    edge.style.display = at ? "" : "none";
    if (!at) return pointed("");
    const [q, k] = at;
    edge.setAttribute("x", left + k * side);
    edge.setAttribute("y", above + q * side);
    pointed(_("“{row}” to “{column}”: {weight}", { row: rows[q], column: columns[k], weight: decimal(shown[q * columns.length + k]) }));
  };
  const choose = (cell) => { at = cell; report(); };
  onPointing(svg, (event) => {
    const index = cells.indexOf(event.target);
    choose(index < 0 ? null : [Math.floor(index / columns.length), index % columns.length]);
  }, () => choose(null));
  svg.addEventListener("keydown", (event) => {
    const cell = cellByKey(event, at ?? [0, 0], rows.length, columns.length);
    if (cell) choose(at ? cell : [0, 0]);
  });
  return {
    draw(weights) {
      shown = weights;
      cells.forEach((cell, i) => { if (allowed?.[i] !== "0") cell.style.fillOpacity = shade(weights[i]); });
      report();
    },
    mark(q) {
      frame.style.display = q === null ? "none" : "";
      if (q !== null) frame.setAttribute("y", above + q * side);
    },
  };
}

// The same as a small sketch without tokens, in SHADES shades. It has one path per shade, so a long sentence does not
// need more elements.
export function sketch(place, weights, { rows: rowCount, columns: columnCount, color, allowed }, width, height) {
  const side = Math.min(width / columnCount, height / rowCount), levels = Array.from({ length: SHADES + 1 }, () => []);
  weights.forEach((weight, i) => {
    if (allowed?.[i] === "0") return;
    levels[Math.round(SHADES * shade(weight))].push(`M${i % columnCount} ${Math.floor(i / columnCount)}h1v1h-1z`);
  });
  const svg = make("svg", { width: side * columnCount, height: side * rowCount, viewBox: `0 0 ${columnCount} ${rowCount}`, "aria-hidden": "true", class: "head-map" }, place);
  svg.style.width = "auto";
  make("rect", { width: columnCount, height: rowCount, class: "ground" }, svg).style.fill = color;
  levels.forEach((cells, level) => {
    if (level && cells.length) make("path", { d: cells.join(""), "fill-opacity": level / SHADES }, svg).style.fill = color;
  });
}
