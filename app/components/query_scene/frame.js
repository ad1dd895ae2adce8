// What is above the rows of the keys (the query and its products with one key), and what is below them (the sum).

import { decimalsFor, termsOf } from "./numbers.js";
import { _ } from "../shared/language.js";
import { decimals, fixed } from "../shared/numbers.js";
import { heightsFor } from "./rows.js";
import { fillBars, fillStrip } from "./strip.js";
import { colors, painted, signed } from "../shared/shades.js";
import { cut, make } from "../shared/svg.js";

export const HEAD = 48, FOOT = 60;  // below the sum is the button for downloads

export function headOf(svg, scene) {
  const { message, tensors, columns, measure } = scene;
  const texts = (y, className) => make("text", { class: className, x: columns.label.w, y, "text-anchor": "end", "dominant-baseline": "central" }, svg);
  const [query, terms] = [make("g", {}, svg), make("g", { class: "terms" }, svg)];
  const label = texts(12, "label query"), product = texts(35, "quiet");
  const keys = columns.key ? null : texts(35, "quiet");
  const sum = columns.product && columns.key && make("text", { class: "number", x: columns.product.number, y: 35, "text-anchor": "end", "dominant-baseline": "central" }, svg);
  const digits = decimalsFor(tensors.largest.products);
  const update = () => {
    if (!columns.key) { keys.textContent = _("keys"); label.textContent = ""; return; }
    const q = tensors.row("query", scene.query), products = termsOf(q, tensors.row("key", scene.key));
    label.textContent = cut(_("q of {token}", { token: message.predicts[scene.query] ?? message.queries[scene.query] }), columns.label.w, 15.5, measure);
    product.textContent = _("q × k, cell by cell");
    if (measure(product.textContent, 14) > columns.label.w) product.textContent = "q × k";
    const most = message.keys.reduce((largest, key, j) => termsOf(q, tensors.row("key", j)).reduce((a, b) => Math.max(a, Math.abs(b)), largest), 0) || 1;
    fillStrip(query, { x: columns.key.x, y: 2, w: columns.key.w, h: 20 }, q, tensors.largest.query, message.scale);
    fillBars(terms, { x: columns.key.x, y: 24, w: columns.key.w, h: 22 }, products, most, message.scale);
    sum.textContent = `Σ ${fixed(tensors.row("products", scene.query)[scene.key], digits)}`;
  };
  update();
  return { update };
}

export function footOf(svg, scene) {
  const { message, tensors, columns, measure } = scene;
  const { value, weight } = columns, top = 8;
  make("line", { class: "rule", x1: 0, x2: scene.width, y1: 2, y2: 2 }, svg);
  const strip = make("g", { class: "output" }, svg);
  const right = (x, className, text) => make("text", { class: className, x, y: top + 12, "text-anchor": "end", "dominant-baseline": "central" }, svg, text);
  const total = weight && right(weight.number, "number strong total", "");
  const label = value && right((columns.isNarrow ? columns.label.w : weight.x - 10), "label sum", columns.isNarrow ? _("output") : "");
  legend(svg, scene);
  // Shows `values`, the sum so far; without `values`, the whole output.
  const show = (values) => {
    if (!value) return;
    fillStrip(strip, { x: value.x, y: top, w: value.w, h: 24 }, values ?? tensors.row("context", scene.query), tensors.largest.value, message.scale);
  };
  const update = (step, isAdding) => {
    if (total) total.textContent = step >= 3 ? `Σ ${decimals(tensors.row("weights", scene.query).reduce((a, b) => a + b, 0), 3)}` : "";
    if (label && !columns.isNarrow) label.textContent = step >= 4 || isAdding ? cut(_("output = the sum of weight × value"), weight.x, 15, measure) : "";
    strip.classList.toggle("shown", step >= 4 || isAdding);
  };
  return { show, update };
}

// What the colours mean, and how many rows there are if not all are in view.
function legend(svg, { message, tensors, width, columns }) {
  const text = (x, y, words) => make("text", { class: "legend", x, y, "dominant-baseline": "central" }, svg, words);
  const { inView } = heightsFor(message.keys.length, columns.isNarrow);
  if (message.keys.length > inView) text(0, 42, _("{count} keys: {inView} are in view, scroll for the others", { count: message.keys.length, inView }));
  if (columns.isNarrow) return;
  const limits = ["query", "key", "value"].map((name) => `${name[0]} ±${fixed(tensors.largest[name], 2)}`).join(", ");
  text(0, 17, "−");
  make("image", { href: painted(Float32Array.from({ length: 41 }, (none, i) => i / 20 - 1), 1, 41, colors(message.scale), signed(1)), x: 14, y: 11, width: 90, height: 12, preserveAspectRatio: "none" }, svg);
  text(109, 17, width < 900 ? "+" : _("+   full colour: {limits}", { limits }));
}
