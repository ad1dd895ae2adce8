// Vectors below each other as strips of colour, one cell per dimension. At the right of each strip is its number in one
// dimension, so that a reader can follow a sum. The arrow keys, Home, End and the pointer choose another dimension.

import { itemByKey } from "../shared/arrow_keys.js";
import { decoded } from "../shared/arrays.js";
import { within } from "../shared/dom.js";
import { _, withLabel } from "../shared/language.js";
import { fixed } from "../shared/numbers.js";
import { colors, painted, signed } from "../shared/shades.js";
import { cut, make, measurer, pixels } from "../shared/svg.js";
import { isDark, onNewColors } from "../shared/themed.js";
import { watchSize } from "../shared/watch_size.js";

const STRIP_HEIGHT = 22, PITCH = 30, TOP = 54, NAMES = 14, VALUES = 84;  // px

function draw(root, state) {
  const { data, rows } = state, width = Math.max(root.clientWidth, 280), count = rows[0].values.length;
  if (state.width === width && state.drawn === data && state.dark === isDark()) return;
  Object.assign(state, { width, drawn: data, dark: isDark() });
  const measure = measurer(root);
  const longest = Math.max(...rows.map(({ name }) => measure(name, 15)));
  // A saved picture is shown in the font of the reader's machine, which may be wider.
  const left = Math.ceil(1.12 * longest) + NAMES, across = width - left - VALUES;
  const bottom = TOP + rows.length * PITCH, height = bottom + 16;
  const svg = make("svg", { class: "picture strips", viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: "slider",
    "aria-label": data.alt, "aria-valuemin": 0, "aria-valuemax": count - 1 });
  const large = Math.max(Math.min(18, (18 * width) / (1.06 * measure(data.title, 18))), 12);  // bold letters are wider
  make("text", { class: "title", x: 0, y: 20, style: `font-size: ${large}px` }, svg, cut(data.title, width, large, measure));
  const at = make("text", { class: "small", x: width, y: 44, "text-anchor": "end" }, svg);
  const numbers = rows.map(({ name, values, limit }, i) => {
    const y = TOP + i * PITCH, middle = y + STRIP_HEIGHT / 2;
    make("text", { class: "name", x: left - NAMES, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, svg, name);
    pixels(svg, { href: painted(values, 1, count, colors(data.scale), signed(limit)), x: left, y, width: across, height: STRIP_HEIGHT });
    return make("text", { class: "value", x: width, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, svg);
  });
  for (const [place, anchor] of [[0, "start"], [count - 1, "end"]]) {
    make("text", { class: "small", x: left + (place ? across : 0), y: bottom + 8, "text-anchor": anchor }, svg, place);
  }
  const mark = make("rect", { class: "mark", y: TOP - 4, width: Math.max(across / count, 3), height: bottom - TOP, rx: 1 }, svg);
  const show = (dimension) => {
    state.dimension = within(dimension, 0, count - 1);
    at.textContent = _("dimension {dimension}", { dimension: state.dimension });
    rows.forEach(({ values }, i) => { numbers[i].textContent = fixed(values[state.dimension], 4); });
    mark.setAttribute("x", left + ((state.dimension + 0.5) * across) / count - mark.width.baseVal.value / 2);
    svg.setAttribute("aria-valuenow", state.dimension);
    svg.setAttribute("aria-valuetext", withLabel(at.textContent, rows.map(({ name, values }) => `${name} ${fixed(values[state.dimension], 4)}`).join(", ")));
  };
  const follow = (event) => {
    const x = ((event.clientX - svg.getBoundingClientRect().left) * width) / svg.getBoundingClientRect().width - left;
    if (x >= 0 && x < across) show(Math.floor((x / across) * count));
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("keydown", (event) => {
    const goal = itemByKey(event, state.dimension, count);
    if (goal !== undefined) show(goal);
  });
  const focused = root.getRootNode().activeElement?.matches("svg.strips");
  root.replaceChildren(svg);
  show(state.dimension);
  if (focused) svg.focus({ preventScroll: true });
}

export default function ({ data: bytes, parentElement }) {
  const root = parentElement.querySelector(".root");
  const data = JSON.parse(new TextDecoder().decode(bytes));
  const rows = data.rows.map(({ name, values, limit }) => ({ name, limit, values: decoded(values).values }));
  const before = root.strips;
  const state = { data, rows, dimension: before && before.rows[0].values.length === rows[0].values.length ? before.dimension : data.dimension };
  root.strips = state;
  if (!before) watchSize(root, () => draw(root, root.strips));
  draw(root, state);
  onNewColors(() => draw(root, root.strips));
}
