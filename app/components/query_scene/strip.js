// A vector as a strip of colour; where its cells are wide enough, with the numbers in them.

import { decimalsFor } from "./numbers.js";
import { fixed } from "../shared/numbers.js";
import { colors, inkOn, painted, signed } from "../shared/shades.js";
import { make } from "../shared/svg.js";

const WIDE_ENOUGH = 50, TYPE = 14;

// Draws the strip into a group, in place of what is in it. `limit` gets the full colour.
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
