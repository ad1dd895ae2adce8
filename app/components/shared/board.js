// One grid of cells as SVG: names on the left and on top, a colour and, where there is room, a number in each cell.

import { fixed } from "./numbers.js";
import { shades } from "./shades.js";
import { cut, make, write } from "./svg.js";

const TEXT = 15, PITCH = 16, SMALLEST = 14, NUMBER_HIGH = 15, LARGEST_TOP = 84;
const SLANTS = [38, 62];  // degrees, of names on top: where there is room, and in narrow columns

const sine = (degrees) => Math.sin((degrees * Math.PI) / 180), apart = (degrees) => PITCH / sine(degrees);

// The names on top are flat if they fit, otherwise slanted. `top` is their height, `tail` how far the last one reaches
// to the right of the cells.
export function head(names, wide, measure) {
  const longest = Math.max(...names.map((name) => measure(name, TEXT)));
  if (longest < wide - 6) return { flat: true, slant: 0, top: 24, tail: 4 };
  const slant = SLANTS.find((degrees) => apart(degrees) <= wide) ?? SLANTS.at(-1);
  const top = Math.min(longest * sine(slant) + 18, LARGEST_TOP);
  return { flat: false, slant, top, tail: Math.max((top - 16) / Math.tan((slant * Math.PI) / 180) - wide / 2, 4) };
}

// `size`: the room to the left of the cells (`left`) and above them (`top`), the size of a cell (`wide`, `high`), and
// `flat`, `slant` and `tail` from `head`. Its lengths are in units of `unit` px. If `left` is 0, rows have no names.
// Returns the SVG and functions that change it.
export function board({ rows, columns, alt }, size, unit, measure) {
  const { left, top, wide, high, flat, slant, tail } = size;
  const width = left + wide * columns.names.length + tail, height = top + high * rows.names.length + 2;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "group", "aria-label": alt });
  Object.assign(svg.style, { width: `${width * unit}px`, height: `${height * unit}px` });
  const names = { row: [], column: [] }, cells = [], numbers = [];
  // Of the names of rows and of columns, only each n-th one is shown (`every`). The names of the cell that is pointed
  // at are shown, too; names that they would overlap are hidden.
  const isDense = high >= SMALLEST && high < PITCH;  // all names of rows, in smaller type
  const every = { row: isDense ? 1 : Math.ceil(PITCH / high - 0.01), column: Math.ceil((flat ? PITCH : apart(slant)) / wide - 0.01) };
  const label = (list, at, axis, place, room) => {
    const gone = axis.gone?.[at] ? " gone" : "", spare = at % (list === names.row ? every.row : every.column) ? " spare" : "";
    const size = isDense && list === names.row ? SMALLEST : TEXT;
    const node = make("text", { ...place, class: `name${gone}${spare}`, style: `font-size: ${size}px; fill: ${axis.color}` }, svg);
    list.push(write(node, cut(axis.names[at], room, TEXT, measure)));
  };
  if (left) {
    make("text", { class: "quiet", x: left - 8, y: top - 7, "text-anchor": "end" }, svg, cut(rows.title, left - 8, 14, measure));
    rows.names.forEach((_, row) => label(names.row, row, rows, { x: left - 8, y: top + (row + 0.5) * high, "text-anchor": "end", "dominant-baseline": "central", "data-row": row }, left - 12));
  }
  columns.names.forEach((_, column) => {
    const x = left + (column + 0.5) * wide;
    const place = flat ? { x, y: top - 7, "text-anchor": "middle" } : { transform: `translate(${x - 2},${top - 5}) rotate(${-slant})` };
    label(names.column, column, columns, { ...place, "data-column": column }, flat ? wide : (top - 16) / sine(slant));
  });
  rows.names.forEach((_, row) => columns.names.forEach((_, column) => {
    const x = left + column * wide, y = top + row * high;
    cells.push(make("rect", { class: "cell", x: x + 0.5, y: y + 0.5, width: Math.max(wide - 1, 1), height: Math.max(high - 1, 1), rx: Math.min(2, high / 4), "data-at": cells.length }, svg));
    numbers.push(high >= NUMBER_HIGH && wide >= 34 ? make("text", { class: "number", x: x + wide / 2, y: y + high / 2, "text-anchor": "middle", "dominant-baseline": "central" }, svg) : null);
  }));
  const boxes = {};
  return {
    svg,
    // Frames a cell. For each class name there is one frame, which moves.
    frame(name, row, column) {
      const box = (boxes[name] ??= make("rect", { class: name, rx: 3 }, svg));
      const place = { x: left + column * wide, y: top + row * high, width: wide, height: high };
      for (const [key, value] of Object.entries(place)) box.setAttribute(key, value);
    },
    near(row, column) {
      for (const [side, place] of [["row", row], ["column", column]]) {
        names[side].forEach((node, at) => {
          node.classList.toggle("near", at === place);
          node.classList.toggle("covered", at !== place && Math.abs(at - place) < every[side]);
        });
      }
    },
    // Writes a number into a cell and colours it; the number `most` has the last colour of the scale.
    show(at, value, { scale, signed, digits }, most) {
      const { fill, ink } = shades(scale)(signed ? (value / most + 1) / 2 : value / most), node = numbers[at];
      cells[at].style.fill = fill;
      if (!node) return;
      node.style.fill = ink;
      node.textContent = Math.abs(value) < 0.5 * 10 ** -digits ? "" : fixed(value, digits);
    },
  };
}
