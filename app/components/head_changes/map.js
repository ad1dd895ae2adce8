// One map of weights: one pixel per weight, tokens along its sides. Pointing or the arrow keys choose a cell.

import { cellByKey } from "../shared/arrow_keys.js";
import { onPointing } from "../shared/pointing.js";
import { cellUnder, cut, make, pixels, write } from "../shared/svg.js";

const MAP_TOKEN = 14, NAMES_APART = 15, LARGEST_CELL = 44, EDGE = 7;  // px at 1280x720
const WIDER = 1.7;  // width of a cell over its height, at most

// The size of the cells and the room for the tokens, if `maps` maps side by side share this width and height.
export function mapSize({ rows, columns }, { width, height, maps, gap, measure, unit }) {
  const longest = (tokens) => Math.max(...tokens.map((token) => measure(token, MAP_TOKEN * unit)));
  const left = Math.min(longest(rows), 0.35 * (width / maps)) + EDGE * unit, above = Math.min(longest(columns), 0.33 * height) + EDGE * unit;
  const across = (width - left - (maps - 1) * gap - 4 * maps) / (maps * columns.length), down = (height - above) / rows.length;
  const high = Math.max(Math.min(down, LARGEST_CELL * unit), 1);
  return { left, above, high, wide: Math.max(Math.min(across, WIDER * high, LARGEST_CELL * unit), 1), measure, unit };
}

export function newMap(place, { rows, columns }, { left: edge, above, wide, high, measure, unit }, named, act) {
  const left = named ? edge : 2, type = MAP_TOKEN * unit, every = (size) => Math.ceil((NAMES_APART * unit) / size);
  const width = wide * columns.length, height = high * rows.length;
  const svg = make("svg", { width: left + width + 2, height: above + height + 2, role: "img", tabindex: 0 }, place);
  const names = { row: [], column: [] };
  rows.forEach((token, i) => {
    if (!named || i % every(high)) return;
    names.row[i] = make("text", { x: left - EDGE * unit, y: above + (i + 0.5) * high, "font-size": type, "text-anchor": "end", "dominant-baseline": "central" }, svg);
    write(names.row[i], cut(token, left - EDGE * unit, type, measure));
  });
  columns.forEach((token, i) => {
    if (i % every(wide)) return;
    const x = left + (i + 0.5) * wide, y = above - EDGE * unit;
    names.column[i] = make("text", { x, y, "font-size": type, "dominant-baseline": "central", transform: `rotate(-90 ${x} ${y})` }, svg);
    write(names.column[i], cut(token, above - EDGE * unit, type, measure));
  });
  make("rect", { x: left, y: above, width, height, class: "masked" }, svg);
  const image = pixels(svg, { x: left, y: above, width, height });
  make("rect", { x: left, y: above, width, height, class: "around" }, svg);
  const frame = make("rect", { width: wide, height: high, class: "pointed" }, svg);
  onPointing(svg, (event) => {
    const cell = cellUnder(event, image, rows.length, columns.length);
    act(cell && { q: cell[0], k: cell[1] });
  }, () => act(null));
  svg.addEventListener("keydown", (event) => {
    const from = act.cell(), cell = cellByKey(event, from ? [from.q, from.k] : [0, 0], rows.length, columns.length);
    if (cell) act(from ? { q: cell[0], k: cell[1] } : { q: 0, k: 0 });
  });
  return {
    paint(href, alt) {
      image.setAttribute("href", href);
      svg.setAttribute("aria-label", alt);
    },
    mark(cell) {
      frame.style.visibility = cell ? "" : "hidden";
      if (cell) for (const [name, value] of Object.entries({ x: left + cell.k * wide, y: above + cell.q * high })) frame.setAttribute(name, value);
      names.row.forEach((node, i) => node.classList.toggle("near", i === cell?.q));
      names.column.forEach((node, i) => node.classList.toggle("near", i === cell?.k));
    },
  };
}
