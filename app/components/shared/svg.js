// What every picture in SVG needs.

import { inWords } from "./token.js";

export const SVG = "http://www.w3.org/2000/svg";

export function make(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

// A picture of one pixel per cell, as `painted` makes it, without blur between the cells.
export const pixels = (parent, attributes) => make("image", { preserveAspectRatio: "none", style: "image-rendering: pixelated", ...attributes }, parent);

// The cell [row, column] of a grid that fills `node` under the pointer; null outside.
export function cellUnder(event, node, rows, columns) {
  const { left, top, width, height } = node.getBoundingClientRect();
  const row = Math.floor(((event.clientY - top) / height) * rows), column = Math.floor(((event.clientX - left) / width) * columns);
  return row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null;
}

// Writes a token, or a word and a token, into a label.
export function write(label, text) {
  label.append(inWords(text));
  return label;
}

// Returns a function of a text and a size: the width in px, in the font of the page.
export function measurer(root) {
  const font = getComputedStyle(root).fontFamily, context = document.createElement("canvas").getContext("2d");
  return (text, size) => { context.font = `${size}px ${font}`; return context.measureText(text).width; };
}

const WAIT = 2000;  // ms

// Calls `draw` when the font in which texts are measured is loaded: at once, or a moment later.
export function withFont(root, draw) {
  const font = `16px ${getComputedStyle(root).fontFamily}`;
  if (document.fonts.check(font)) { draw(); return; }
  const late = new Promise((done) => setTimeout(done, WAIT));
  Promise.race([document.fonts.load(font), late]).catch(() => {}).then(draw);
}

// Breaks a text into as many lines as it needs.
export function lines(text, width, size, measure) {
  return text.split(" ").reduce(([...done], word) => {
    const longer = `${done.at(-1)} ${word}`;
    return done.length && measure(longer, size) <= width ? [...done.slice(0, -1), longer] : [...done, word];
  }, []);
}

export function cut(text, width, size, measure) {
  if (measure(text, size) <= width) return text;
  let n = text.length;
  while (n > 1 && measure(text.slice(0, n) + "…", size) > width) n -= 1;
  return text.slice(0, n) + "…";
}

// Adds the pattern for what a mask forbids, "url(#hatch)", in the colours --hatch and --hatch-ground.
export function hatch(svg) {
  const pattern = make("pattern", { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, make("defs", {}, svg));
  make("rect", { class: "ground", width: 8, height: 8 }, pattern);
  make("line", { class: "strokes", x1: 0, x2: 0, y1: 0, y2: 8 }, pattern);
}
