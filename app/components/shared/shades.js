// Numbers as colours. A scale is a list of [place, "light-dark(#rrggbb, #rrggbb)"], as app/figures/theme.py has them.

import { isDark } from "./themed.js";
import { within } from "./dom.js";

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// The colour at a place from 0 to 1, as [red, green, blue], in the light theme (0) or in the dark (1).
function colorAt(scale, value, theme) {
  const next = Math.max(scale.findIndex(([place]) => value <= place), 1);
  const [[low, from], [high, to]] = [scale[next - 1], scale[next]], share = (value - low) / (high - low);
  const [a, b] = [from, to].map((pair) => channels(pair.match(/#\w{6}/g)[theme]));
  return a.map((channel, i) => Math.round((1 - share) * channel + share * b[i]));
}

// Black or white, whichever has more contrast with a colour.
export function inkOn(color) {
  const [red, green, blue] = color.map((c) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}

// Gives for a number from 0 to 1 its colour and the ink on it, each as a pair for the light and the dark theme, of
// which the browser takes one.
export const shades = (scale) => (value) => {
  const [light, dark] = [0, 1].map((theme) => colorAt(scale, within(value, 0, 1), theme));
  return { fill: `light-dark(rgb(${light}), rgb(${dark}))`, ink: `light-dark(${inkOn(light)}, ${inkOn(dark)})` };
};

// The colours at 256 places between the two ends, in the theme of the page.
const known = new WeakMap();

export function colors(scale) {
  if (!known.has(scale)) known.set(scale, []);
  const theme = Number(isDark());
  return (known.get(scale)[theme] ??= Array.from({ length: 256 }, (_, i) => colorAt(scale, i / 255, theme)));
}

// The place of a signed number, and of a weight, among these 256 colours.
export const signed = (limit) => (value) => Math.round(127.5 + 127.5 * within(value / limit, -1, 1));
export const weight = (value) => Math.round(255 * within(value, 0, 1));

// The address of a picture of values (rows, columns), one pixel per value. `place` gives the place of a value in
// `table`; a value without a colour there stays transparent.
export function painted(values, rows, columns, table, place) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; i += 1) {
    const color = table[place(values[i], i)];
    if (color) image.data.set([...color, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
