// The stream as a line from top to bottom. It passes around each sub-layer, which is a box. The sub-layer reads the
// stream, and its output is added to the stream at ⊕ (paper, figure 1). What is taken away is dashed, and so is the line
// after ⊕ if an edit replaces the stream there.

import { make } from "../shared/svg.js";

const DOT = 5, TIP = 6;

// One sub-layer. In px: the box (`from`, `to`), the line (`x`) and the row (`y`, `high`). `unit`: the scale of the
// page. `works`: the sub-layer is not taken away. `connected`: its residual connection is not taken away. `replaced`: an
// edit replaces the stream after it.
export function drawSublayer(parent, { from, to, x, y, high, unit, color }, { works, connected, replaced, last }) {
  const leaves = y + 0.06 * high, joins = y + 0.7 * high, dot = Math.min(DOT * unit, 0.2 * high), tip = TIP * unit;
  const line = (d, on, width = 1.5) => make("path", { d, fill: "none", stroke: color, "stroke-width": width * unit,
    ...(on ? {} : { "stroke-dasharray": `${2 * unit} ${3 * unit}`, "stroke-opacity": 0.6 }) }, parent);
  make("rect", { class: "box", x: from, y: y + 1, width: to - from, height: high - 2, rx: 5 * unit, stroke: color, "stroke-dasharray": works ? "none" : "3 3", "stroke-opacity": works ? 0.55 : 0.9 }, parent);
  line(`M${x},${y}V${leaves}`, true, 3);
  line(`M${x},${leaves}V${joins - dot}`, connected, 3);
  line(`M${x},${joins + dot}V${y + high + (last ? -0.05 * high : 0)}`, !replaced, 3);
  line(`M${x},${leaves}H${to + tip}`, works);
  line(`M${to},${joins}H${x - dot - tip}`, works);
  if (works) make("path", { d: `M${to},${leaves}l${tip},${-0.6 * tip}v${1.2 * tip}zM${x - dot},${joins}l${-tip},${-0.6 * tip}v${1.2 * tip}z`, fill: color }, parent);
  make("circle", { cx: x, cy: joins, r: dot, class: "sum", stroke: color, "stroke-width": 1.5 * unit }, parent);
  if (works && connected) make("path", { d: `M${x - dot},${joins}h${2 * dot}M${x},${joins - dot}v${2 * dot}`, stroke: color, "stroke-width": 1.3 * unit }, parent);
}
