// One grid of cells as SVG: names on the left and on top, a colour and, where there is room, a number in each cell.

import { fixed } from "../shared/numbers.js";
import { shades } from "../shared/shades.js";
import { cut, make, write } from "../shared/svg.js";

const TEXT = 15, PITCH = 16, SLANT = 0.62, RUN = 0.79, NUMBER_HIGH = 15, LARGEST_TOP = 84;

// How high names on top are, and how far the last one reaches to the right: flat where they fit, otherwise slanted.
export function head(names, wide, measure) {
  const longest = Math.max(...names.map((name) => measure(name, TEXT)));
  if (longest < wide - 6) return { flat: true, top: 24, tail: 4 };
  const top = Math.min(longest * SLANT + 18, LARGEST_TOP);
  return { flat: false, top, tail: Math.max(((top - 16) / SLANT) * RUN - wide / 2, 4) };
}

// `size`: left, top, wide, high, flat, tail; left of 0: without names of rows. Gives the SVG and what changes it.
export function board({ rows, columns, alt }, size, unit, measure) {
  const { left, top, wide, high, flat, tail } = size, across = columns.names.length;
  const width = left + wide * across + tail, height = top + high * rows.names.length + 2;
  const svg = make("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "group", "aria-label": alt });
  Object.assign(svg.style, { width: `${width * unit}px`, height: `${height * unit}px` });
  const names = { row: [], column: [] }, cells = [], numbers = [];
  const label = (list, at, axis, place, room) => {
    const every = Math.ceil(PITCH / (list === names.row ? high : wide)), gone = axis.gone?.[at] ? " gone" : "";
    const node = make("text", { ...place, class: `name${gone}${at % every ? " spare" : ""}`, style: `font-size: ${TEXT}px; fill: ${axis.color}` }, svg);
    list.push(write(node, cut(axis.names[at], room, TEXT, measure)));
  };
  if (left) {
    make("text", { class: "quiet", x: left - 8, y: top - 7, "text-anchor": "end" }, svg, cut(rows.title, left - 8, 14, measure));
    rows.names.forEach((_, row) => label(names.row, row, rows, { x: left - 8, y: top + (row + 0.5) * high, "text-anchor": "end", "dominant-baseline": "central", "data-row": row }, left - 12));
  }
  columns.names.forEach((_, column) => {
    const x = left + (column + 0.5) * wide;
    const place = flat ? { x, y: top - 7, "text-anchor": "middle" } : { transform: `translate(${x - 2},${top - 5}) rotate(-38)` };
    label(names.column, column, columns, { ...place, "data-column": column }, flat ? wide : (top - 16) / SLANT);
  });
  rows.names.forEach((_, row) => columns.names.forEach((_, column) => {
    const x = left + column * wide, y = top + row * high;
    cells.push(make("rect", { class: "cell", x: x + 0.5, y: y + 0.5, width: Math.max(wide - 1, 1), height: Math.max(high - 1, 1), rx: Math.min(2, high / 4), "data-at": cells.length }, svg));
    numbers.push(high >= NUMBER_HIGH && wide >= 34 ? make("text", { class: "number", x: x + wide / 2, y: y + high / 2, "text-anchor": "middle", "dominant-baseline": "central" }, svg) : null);
  }));
  const boxes = {};
  return {
    svg,
    // Frames a cell, or a row where `column` is undefined; the box of each name is one.
    frame(name, row, column) {
      const box = (boxes[name] ??= make("rect", { class: name, rx: 3 }, svg));
      const place = { x: left + (column ?? 0) * wide, y: top + row * high, width: wide * (column === undefined ? across : 1), height: high };
      for (const [key, value] of Object.entries(place)) box.setAttribute(key, value);
    },
    near(row, column) {
      names.row.forEach((node, at) => node.classList.toggle("near", at === row));
      names.column.forEach((node, at) => node.classList.toggle("near", at === column));
    },
    // A cell gets a number of a view, in a colour in which `most` has the last one.
    show(at, value, { scale, signed, digits }, most, isFirst = false) {
      const { fill, ink } = shades(scale)(signed ? (value / most + 1) / 2 : value / most), node = numbers[at];
      cells[at].style.fill = fill;
      cells[at].classList.toggle("first", isFirst);
      if (!node) return;
      node.style.fill = ink;
      node.classList.toggle("near", isFirst);
      node.textContent = Math.abs(value) < 0.5 * 10 ** -digits ? "" : fixed(value, digits);
    },
  };
}
