// A vector as a strip of colour: the colours of a scale from -1 to 1, and the picture of a row of numbers.

import { resolved } from "./themed.js";

// The colour of a number from -1 to 1, as red, green and blue.
export function shade(scale, value) {
  const place = Math.min(Math.max((value + 1) / 2, 0), 1);
  const i = Math.max(scale.findIndex(([stop]) => place <= stop), 1);
  const [[low, from], [high, to]] = [scale[i - 1], scale[i]], share = (place - low) / (high - low);
  return [1, 3, 5].map((at) => {
    const [a, b] = [from, to].map((color) => parseInt(resolved(color).slice(at, at + 2), 16));
    return Math.round(a + share * (b - a));
  });
}

// The address of an image with a pixel per number; `limit` gets the full colour.
export function painted(values, limit, scale) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [values.length, 1];
  const context = canvas.getContext("2d"), image = context.createImageData(values.length, 1);
  values.forEach((value, i) => image.data.set([...shade(scale, value / limit), 255], 4 * i));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
