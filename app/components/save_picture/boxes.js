// A picture made of HTML as one of SVG: every box that has a background or an outline, every text, and every
// drawing within it, where they are now.

import { inlined } from "./inlined.js";
import { make } from "../shared/svg.js";

// Any colour of CSS as [rgb, opacity]: programs that open an SVG know few of them.
const dot = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
function plain(color) {
  dot.clearRect(0, 0, 1, 1);
  dot.fillStyle = color;
  dot.fillRect(0, 0, 1, 1);
  const [red, green, blue, opacity] = dot.getImageData(0, 0, 1, 1).data;
  return [`rgb(${red},${green},${blue})`, opacity / 255];
}

export function asBoxes(picture) {
  const origin = picture.getBoundingClientRect();
  const svg = make("svg", { width: origin.width, height: origin.height });
  const within = (box) => ({ x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height });
  const put = (node, parent) => {
    if (node.nodeType === Node.TEXT_NODE) return write(node, parent);
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    if (node instanceof SVGSVGElement) {
      const copy = inlined(node);
      for (const [name, value] of Object.entries(within(node.getBoundingClientRect()))) copy.setAttribute(name, value);
      parent.append(copy);
      return;
    }
    const style = getComputedStyle(node), place = within(node.getBoundingClientRect()), rx = parseFloat(style.borderRadius) || 0;
    const group = style.opacity === "1" ? parent : make("g", { opacity: style.opacity }, parent);
    if (node instanceof HTMLCanvasElement) {
      make("image", { href: node.toDataURL(), ...place }, group);
      return;
    }
    const [fill, opacity] = plain(style.backgroundColor);
    if (opacity && place.width && style.visibility === "visible") make("rect", { ...place, rx, fill, "fill-opacity": opacity }, group);
    if (style.outlineStyle !== "none") {
      const wide = parseFloat(style.outlineWidth), [stroke, seen] = plain(style.outlineColor);  // it stands inside
      const [x, y] = [place.x + wide / 2, place.y + wide / 2];
      make("rect", { x, y, width: place.width - wide, height: place.height - wide, rx, fill: "none", stroke, "stroke-opacity": seen,
        "stroke-width": wide, ...(style.outlineStyle === "dashed" && { "stroke-dasharray": "5 3" }) }, group);
    }
    node.childNodes.forEach((child) => put(child, group));
  };
  const write = (node, parent) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = within(range.getBoundingClientRect());
    if (!box.width || !node.data.trim()) return;
    const style = getComputedStyle(node.parentElement), [fill, opacity] = plain(style.color);
    if (style.visibility !== "visible") return;
    make("text", { "xml:space": "preserve", x: box.x, y: box.y + box.height / 2, "dominant-baseline": "central", fill, "fill-opacity": opacity,
      textLength: box.width, lengthAdjust: "spacingAndGlyphs",  // in the type of whoever opens it, too
      "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight }, parent, node.data);
  };
  put(picture, svg);
  return svg;
}
