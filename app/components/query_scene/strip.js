// A vector as a strip of colour; where its cells are wide enough, with the numbers in them.

import { decimal, decimalsFor } from "./numbers.js";
import { painted, shade } from "../shared/strip_image.js";
import { make } from "../shared/svg.js";

const WIDE_ENOUGH = 50, TYPE = 14;

// White or black, whichever has more contrast with a colour.
function inkOn(color) {
  const [red, green, blue] = color.map((c) => ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000" : "#fff";
}

// Draws the strip into a group, in place of what is in it. `limit` gets the full colour.
export function fillStrip(group, { x, y, w, h }, values, limit, scale) {
  group.replaceChildren();
  make("image", { href: painted(values, limit, scale), x, y, width: w, height: h, preserveAspectRatio: "none", class: "cells" }, group);
  make("rect", { class: "frame", x, y, width: w, height: h }, group);
  const cell = w / values.length;
  if (cell < WIDE_ENOUGH || h < 15) return;
  values.forEach((value, i) => make("text", { class: "in-cell", x: x + (i + 0.5) * cell, y: y + h / 2, "text-anchor": "middle",
    "dominant-baseline": "central", style: `fill:${inkOn(shade(scale, value / limit))};font-size:${Math.min(TYPE, h - 2)}px` }, group, decimal(value, Math.min(decimalsFor(limit), 2))));
}
