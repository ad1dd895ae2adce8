// A vector as a strip of colour. If its cells are wide enough, they contain the numbers.

import { decimalsFor } from "./numbers.js";
import { fixed } from "../shared/numbers.js";
import { colors, inkOn, painted, signed } from "../shared/shades.js";
import { make } from "../shared/svg.js";

const WIDE_ENOUGH = 50, TYPE = 14;

// Products as bars from a line in the middle, up if positive, down if negative, so that the sign is seen without the
// colour. Where there is room for numbers, they are written instead.
export function fillBars(group, place, values, limit, scale) {
  const { x, y, w, h } = place, cell = w / values.length, middle = y + h / 2;
  if (cell >= WIDE_ENOUGH) { fillStrip(group, place, values, limit, scale); return; }
  group.replaceChildren();
  make("rect", { class: "frame", x, y, width: w, height: h }, group);
  make("line", { class: "zero", x1: x, x2: x + w, y1: middle, y2: middle }, group);
  values.forEach((value, i) => {
    const height = (Math.abs(value) / limit) * (h / 2), gap = Math.min(1, cell / 4);
    make("rect", { class: `term ${value < 0 ? "negative" : "positive"}`, x: x + i * cell + gap / 2, y: value < 0 ? middle : middle - height, width: cell - gap, height }, group);
  });
}

// Draws the strip into a group, in place of what is in it. Values of ±`limit` get the full colour.
export function fillStrip(group, { x, y, w, h }, values, limit, scale) {
  const table = colors(scale), place = signed(limit);
  group.replaceChildren();
  make("image", { href: painted(values, 1, values.length, table, place), x, y, width: w, height: h, preserveAspectRatio: "none", class: "cells" }, group);
  make("rect", { class: "frame", x, y, width: w, height: h }, group);
  const cell = w / values.length;
  if (cell < WIDE_ENOUGH || h < 15) return;
  values.forEach((value, i) => make("text", { class: "in-cell", x: x + (i + 0.5) * cell, y: y + h / 2, "text-anchor": "middle",
    "dominant-baseline": "central", style: `fill:${inkOn(table[place(value)])};font-size:${Math.min(TYPE, h - 2)}px` }, group, fixed(value, Math.min(decimalsFor(limit), 2))));
}
