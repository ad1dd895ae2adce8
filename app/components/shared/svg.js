// What every picture in SVG needs.

export const SVG = "http://www.w3.org/2000/svg";

export function make(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

// A token, or a word and a token; the mark of a word's start stands back.
export function write(label, text) {
  for (const part of text.split(/(▁)/)) if (part) make("tspan", part === "▁" ? { class: "faint" } : {}, label, part);
  return label;
}

// Gives the width of a text, in px, in the type of the page.
export function measurer(root) {
  const font = getComputedStyle(root).fontFamily, context = document.createElement("canvas").getContext("2d");
  return (text, size) => { context.font = `${size}px ${font}`; return context.measureText(text).width; };
}

// A text in as many lines as it needs.
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
