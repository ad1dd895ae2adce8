// HTML -> SVG: a rectangle for every box that has a background or a frame, every text, and every SVG or canvas inside,
// each at its present position.

import { withInlineStyles } from "./inline_styles.js";
import { make } from "../shared/svg.js";

// Any CSS colour as [rgb, opacity]: many programs that open an SVG know only these.
const onePixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
function plain(color) {
  onePixel.clearRect(0, 0, 1, 1);
  onePixel.fillStyle = color;
  onePixel.fillRect(0, 0, 1, 1);
  const [red, green, blue, opacity] = onePixel.getImageData(0, 0, 1, 1).data;
  return [`rgb(${red},${green},${blue})`, opacity / 255];
}

// A frame along the inside of a box, by the styles `which`Style, `which`Width and `which`Color.
function frame(style, which, { x, y, width, height }, rx, parent) {
  const kind = style[`${which}Style`], wide = parseFloat(style[`${which}Width`]), [stroke, opacity] = plain(style[`${which}Color`]);
  if (kind === "none" || !wide || !opacity || !width || style.visibility !== "visible") return;
  make("rect", { x: x + wide / 2, y: y + wide / 2, width: Math.max(width - wide, 0), height: Math.max(height - wide, 0), rx, fill: "none", stroke,
    "stroke-opacity": opacity, "stroke-width": wide, ...(kind === "dashed" && { "stroke-dasharray": "5 3" }) }, parent);
}

// A scale of colours from left to right.
function gradient(image, { x, y, ...size }, parent) {
  const stops = [...image.matchAll(/(rgba?\([^)]*\)) ([\d.]+)%/g)];
  const id = `scale-${Math.round(x)}-${Math.round(y)}`, scale = make("linearGradient", { id }, make("defs", {}, parent));
  for (const [, color, percent] of stops) make("stop", { offset: `${percent}%`, "stop-color": color }, scale);
  make("rect", { x, y, ...size, fill: `url(#${id})` }, parent);
}

// The lines into which the page breaks a text, each with its box.
function linesOf(node) {
  const range = document.createRange(), boxOf = (from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return range.getBoundingClientRect();
  };
  const starts = [];
  let middle = -Infinity;
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    const { top, bottom } = boxOf(index, index + word.length);
    if (top > middle) starts.push(index);
    middle = (top + bottom) / 2;
  }
  if (starts.length) starts[0] = 0;
  return starts.map((from, i) => {
    const to = starts[i + 1] ?? node.data.length;
    return [node.data.slice(from, to), boxOf(from, to)];
  }).filter(([, { width }]) => width);
}

const isSaved = (node) => node.dataset?.unsaved === undefined;  // a hint or a control is of no use in a file

// The part of a picture that is saved: the picture without the controls at its upper or lower edge.
export function savedPlace(picture) {
  const whole = picture.getBoundingClientRect(), parts = [...picture.children];
  if (parts.every(isSaved)) return whole;
  const boxes = (nodes) => nodes.map((node) => node.getBoundingClientRect()).filter(({ height }) => height);
  const saved = boxes(parts.filter(isSaved)), controls = boxes(parts.filter((node) => !isSaved(node)));
  const top = Math.min(...saved.map((box) => box.top)), bottom = Math.max(...saved.map((box) => box.bottom));
  const from = controls.some((box) => box.bottom <= top) ? top : whole.top, to = controls.some((box) => box.top >= bottom) ? bottom : whole.bottom;
  return new DOMRect(whole.left, from, whole.width, to - from);
}

export function htmlToSvg(picture) {
  const origin = savedPlace(picture);
  // "visible", because letters may reach into the margin.
  const svg = make("svg", { width: origin.width, height: origin.height, overflow: "visible" });
  const placeOf = (box) => ({ x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height });
  // An element that has a transform on the page is drawn without it, inside a group that has the same transform.
  const transformed = (node, parent, { transform, transformOrigin }) => {
    const before = node.getAttribute("style");
    // "important", because the element may be animated.
    for (const name of ["transition", "transform"]) node.style.setProperty(name, "none", "important");
    const { x, y } = placeOf(node.getBoundingClientRect()), [right, down] = transformOrigin.split(" ").map(parseFloat);
    const [left, top] = [x + right, y + down];
    drawNode(node, make("g", { transform: `translate(${left} ${top}) ${transform} translate(${-left} ${-top})` }, parent));
    if (before === null) node.removeAttribute("style"); else node.setAttribute("style", before);
  };
  const drawNode = (node, parent) => {
    if (node.nodeType === Node.TEXT_NODE) return drawText(node, parent);
    if (node.nodeType !== Node.ELEMENT_NODE || !isSaved(node)) return;
    if (node instanceof SVGSVGElement) {
      const copy = withInlineStyles(node);
      for (const [name, value] of Object.entries(placeOf(node.getBoundingClientRect()))) copy.setAttribute(name, value);
      parent.append(copy);
      return;
    }
    const style = getComputedStyle(node);
    if (style.transform.startsWith("matrix(")) return transformed(node, parent, style);
    const place = placeOf(node.getBoundingClientRect()), rx = parseFloat(style.borderRadius) || 0;
    const group = style.opacity === "1" ? parent : make("g", { opacity: style.opacity }, parent);
    if (node instanceof HTMLCanvasElement) {
      make("image", { href: node.toDataURL(), ...place }, group);
      return;
    }
    const [fill, opacity] = plain(style.backgroundColor);
    if (opacity && place.width && style.visibility === "visible") make("rect", { ...place, rx, fill, "fill-opacity": opacity }, group);
    if (style.backgroundImage.startsWith("linear-gradient(to right") && style.visibility === "visible") gradient(style.backgroundImage, { ...place, rx }, group);
    frame(style, "outline", place, rx, group);  // the outline is drawn inside the box
    if (["Top", "Right", "Bottom", "Left"].every((side) => parseFloat(style[`border${side}Width`]))) frame(style, "borderTop", place, rx, group);
    const [, ring, spread] = /^(rgba?\([^)]*\)) 0px 0px 0px ([\d.]+)px$/.exec(style.boxShadow) ?? [];
    if (ring) {
      const out = Number(spread), around = { x: place.x - out, y: place.y - out, width: place.width + 2 * out, height: place.height + 2 * out };
      frame({ ringStyle: "solid", ringWidth: spread, ringColor: ring, visibility: style.visibility }, "ring", around, rx + out, group);
    }
    node.childNodes.forEach((child) => drawNode(child, group));
  };
  const drawText = (node, parent) => {
    const style = getComputedStyle(node.parentElement), [fill, opacity] = plain(style.color);
    if (style.visibility !== "visible") return;
    for (const [text, place] of linesOf(node)) {
      const box = placeOf(place);
      make("text", { "xml:space": "preserve", x: box.x, y: box.y + box.height / 2, "dominant-baseline": "central", fill, "fill-opacity": opacity,
        textLength: box.width, lengthAdjust: "spacingAndGlyphs",  // the same width in any font
        "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight }, parent, text);
    }
  };
  drawNode(picture, svg);
  return svg;
}
