// A row for each key: its strip, q·k as number and bar, the score, the weight, and the value times the weight.

import { decimalsFor, weighted, weightText } from "./numbers.js";
import { fixed } from "../shared/numbers.js";
import { fillStrip } from "./strip.js";
import { cut, make } from "../shared/svg.js";

const LEAST_PITCH = 21, MOST_PITCH = 34;

// How high a row is, and how many rows are in view; the others are reached by scrolling.
export function heightsFor(count, isNarrow) {
  const inView = Math.min(count, isNarrow ? 11 : 14);
  const pitch = isNarrow ? LEAST_PITCH : Math.max(LEAST_PITCH, Math.min(MOST_PITCH, Math.floor((14 * LEAST_PITCH) / count)));
  return { pitch, inView };
}

// Places a bar for a value: it begins at `zero`, the x of 0 in its column, and has `unit` px per 1.
function place(bar, zero, value, unit) {
  const long = Math.max(Math.abs(value) * unit, 0.5);
  bar.style.x = `${value < 0 ? zero - long : zero}px`;
  bar.style.width = `${long}px`;
  bar.setAttribute("class", `bar ${value < 0 ? "negative" : "positive"}`);
}

export function keyRows(svg, scene) {
  const { message, tensors, columns, measure } = scene, { product, score, weight, value } = columns;
  const { pitch, inView } = heightsFor(message.keys.length, columns.isNarrow), unit = product ? product.w / tensors.span : 0;
  const zero = product && product.x - tensors.low * unit, zeroOfScore = score && score.x - (tensors.low * unit) / Math.sqrt(message.d_k);
  const height = pitch * message.keys.length, bar = Math.min(pitch - 9, 16);
  const digits = { products: decimalsFor(tensors.largest.products), scores: decimalsFor(tensors.largest.scores) };

  const rows = message.keys.map((name, j) => {
    const y = j * pitch, middle = y + pitch / 2;
    const group = make("g", { class: "row", "data-key": j }, svg);
    make("rect", { class: "ground", x: 0, y, width: scene.width, height: pitch }, group);
    const text = (className, x, parent) => make("text", { class: className, x, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, parent);
    const part = (className) => make("g", { class: className }, group);
    const label = text("label", columns.label.w, group);
    label.textContent = cut(name, columns.label.w - 4, 15, measure);
    make("title", {}, group, name);
    const box = (column) => ({ x: column.x, y: y + 3, w: column.w, h: pitch - 6 });
    if (columns.key) fillStrip(part("strip"), box(columns.key), tensors.row("key", j), tensors.largest.key, message.scale);
    const [first, second, third, raw, fourth] = ["of1", "of2", "of3", "raw", "of4"].map(part);
    const made = { group };
    const barAt = (parent) => make("rect", { y: middle - bar / 2, height: bar, rx: 1.5 }, parent);
    if (product) Object.assign(made, { product: text("number", product.number, first), productBar: barAt(first) });
    if (score) {
      made.score = text("number", score.number, second);
      if (score.w) made.scoreBar = barAt(second);
    }
    if (weight?.w) {
      make("rect", { class: "track", x: weight.x, y: middle - bar / 2, width: weight.w, height: bar, rx: 1.5 }, third);
      made.weightBar = make("rect", { class: "share", x: weight.x, y: middle - bar / 2, height: bar, rx: 1.5 }, third);
      made.reason = make("text", { class: "reason", x: weight.x, y: middle, "dominant-baseline": "central" }, third);
    }
    if (weight) made.weight = text("number strong", weight.number, third);
    if (value) {
      fillStrip(raw, box(value), tensors.row("value", j), tensors.largest.value, message.scale);
      Object.assign(made, { weighted: fourth, valueBox: box(value) });
    }
    return made;
  });
  for (const at of [zero, score?.w && zeroOfScore]) if (at) make("line", { class: "zero", x1: at, x2: at, y1: 0, y2: height }, svg);

  // Shows the numbers of another query.
  const update = () => {
    const [products, scores, weights, reasons] = ["products", "scores", "weights", "reasons"].map((name) => tensors.row(name, scene.query));
    rows.forEach((row, j) => {
      row.group.classList.toggle("forbidden", reasons[j] > 0);
      if (row.product) {
        row.product.textContent = fixed(products[j], digits.products);
        place(row.productBar, zero, products[j], unit);
      }
      if (row.score) {
        row.score.textContent = fixed(scores[j], digits.scores);
        if (row.scoreBar) place(row.scoreBar, zeroOfScore, scores[j], unit);
      }
      if (row.weight) row.weight.textContent = weightText(weights[j], reasons[j]);
      if (row.weightBar) {
        row.weightBar.style.width = `${weights[j] * weight.w}px`;
        row.reason.textContent = message.reason_texts[reasons[j]];
      }
      if (row.weighted) fillStrip(row.weighted, row.valueBox, weighted(tensors.row("value", j), weights[j]), tensors.largest.value, message.scale);
    });
  };
  update();

  // Shows what is computed so far: the first `reached` rows of this step, and all rows of the steps before.
  const reveal = (step, reached) => rows.forEach(({ group }, j) => {
    const steps = j < reached ? step : step - 1;
    for (const n of [1, 2, 3, 4]) group.classList.toggle(`has${n}`, steps >= n);
    group.classList.toggle("raw-shown", step === 4 && steps < 4);
  });
  const mark = (key, isActive) => rows.forEach(({ group }, j) => {
    group.classList.toggle("on", j === key);
    group.classList.toggle("active", j === key && isActive);
  });
  return { rows, pitch, inView, height, update, reveal, mark };
}
