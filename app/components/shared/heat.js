// Numbers as colours: a picture with a pixel for each of them.

import { resolved } from "./themed.js";

const decoders = { f4: Float32Array, u1: Uint8Array };

// An array as app/components/chart/__init__.py encodes it: { values, shape }.
export function decoded({ dtype, bdata, shape }) {
  const values = new decoders[dtype](Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0)).buffer);
  return { values, shape: shape ? String(shape).split(",").map(Number) : [values.length] };
}

// The colours of a scale at 256 places between its two ends, in the colours of the theme: [red, green, blue] of each.
export function colors(scale) {
  const stops = scale.map(([stop, color]) => [stop, [1, 3, 5].map((at) => parseInt(resolved(color).slice(at, at + 2), 16))]);
  return Array.from({ length: 256 }, (_, i) => {
    const place = i / 255, next = Math.max(stops.findIndex(([stop]) => place <= stop), 1);
    const [[low, from], [high, to]] = [stops[next - 1], stops[next]], share = (place - low) / (high - low);
    return from.map((value, channel) => Math.round(value + share * (to[channel] - value)));
  });
}

// Where a signed number is among the colours, and a weight.
export const signed = (limit) => (value) => Math.round(127.5 + 127.5 * Math.min(Math.max(value / limit, -1), 1));
export const weight = (value) => Math.round(255 * Math.min(Math.max(value, 0), 1));

// The address of a picture of values (rows, columns); what `place` gives no number for stays transparent.
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

// Black or white, whichever is told better from this colour.
export function inkOn([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((c) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}
