// The map of the model, drawn once from the coordinates in the message. The box of the open station is highlighted, and
// the token travels to it.

import { _, withLabel } from "../shared/language.js";
import { cut, make } from "../shared/svg.js";
import { inWords } from "../shared/token.js";
import { STACKS } from "./stacks.js";

const CHIP = 24, SHORTEST = 30, LONGEST = 84;  // of the token: height, least and greatest width, in units of the map
const GAP = 7;  // between two boxes; the area of a box that reacts to a finger reaches to the middle of the gap
const FEW = 6;  // up to so many layers have one button each; a larger stack has "−", the open layer, and "+"

function arrow(parent, { stack, points, head }, color) {
  const path = make("path", { d: `M${points.join("L")}`, class: `arrow ${stack}`, stroke: color }, parent);
  if (!head) return path;
  const [[x0, y0], [x, y]] = points.slice(-2), angle = (Math.atan2(y - y0, x - x0) * 180) / Math.PI;
  make("path", { d: "M0,0L-6,-3.5L-6,3.5Z", fill: color, transform: `translate(${x},${y}) rotate(${angle})` }, parent);
  return path;
}

function pressed(node, act) {
  node.addEventListener("click", act);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
}

function numbers(svg, layers, color, go) {
  const { stack, count, column, numbers: y } = layers;
  const texts = count <= FEW ? Array.from({ length: count }, (unused, i) => i + 1) : ["−", "", "+"];
  make("text", { x: column + 44, y: y + 11, "text-anchor": "end", "dominant-baseline": "central" }, svg, _("layer"));
  const wide = count <= FEW ? Math.min(106 / count, 26) : null, starts = [48, 69, 134];
  return texts.map((text, i) => {
    const width = wide ?? [20, 64, 20][i], x = column + (wide ? 48 + i * wide : starts[i]);
    const group = make("g", { class: "number", tabindex: 0, role: "button" }, svg);
    make("rect", { x: x + 1, y, width: width - 2, height: 22, rx: 5, fill: color, stroke: color }, group);
    make("text", { x: x + width / 2, y: y + 11, "text-anchor": "middle", "dominant-baseline": "central" }, group, text);
    pressed(group, () => go(stack, wide ? i : { step: i - 1 }));
    return group;
  });
}

function tokenMarker(svg, stack, color) {
  const group = make("g", { class: `token-marker ${stack}`, "aria-hidden": "true" }, svg);
  make("rect", { height: CHIP, y: -CHIP / 2, rx: 7, fill: color }, group);
  make("text", { "text-anchor": "middle", "dominant-baseline": "central" }, group);
  return group;
}

// Draws the map. `go` opens a box, `turn` opens a layer of a stack, and `up` opens the box to which an arrow key has
// moved.
export function drawMap(place, map, colors, { go, turn, up }) {
  const svg = make("svg", { viewBox: `0 0 ${map.width} ${map.height}`, class: "map picture", role: "group", "aria-label": map.label, style: `height: ${map.height / 16}rem` });
  const of = (stack) => (stack === "between" ? map.between : colors[stack]);
  for (const { stack, x, y, width, height, count } of map.layers) {
    if (count > 1) make("path", { d: `M${x + 8},${y - 5}h${width - 3}v${height - 3}`, class: "deep", stroke: of(stack) }, svg);
    make("rect", { x, y, width, height, rx: 9, class: "layer", stroke: of(stack) }, svg);
  }
  const drawn = map.arrows.map((each) => arrow(svg, each, of(each.stack)));
  const boxes = map.boxes.map((box, i) => {
    const group = make("g", { class: `box ${box.kind}`, tabindex: 0, role: "button" }, svg);
    group.dataset.station = box.stations[0];
    group.setAttribute("aria-label", withLabel(STACKS[box.stack], [box.label, box.second].filter(Boolean).join(", ")));
    make("title", {}, group, [box.label, box.second].filter(Boolean).join(", "));
    make("rect", { class: "hit", x: box.x, y: box.y - GAP / 2, width: box.width, height: box.height + GAP }, group);
    make("rect", { class: "shape", x: box.x, y: box.y, width: box.width, height: box.height, rx: 6, fill: of(box.stack), stroke: of(box.stack) }, group);
    const lines = box.height > 30 ? [box.label, box.second] : [box.label];
    lines.forEach((line, n) => make("text", { x: box.x + box.width / 2, y: box.y + box.height / 2 + (n - (lines.length - 1) / 2) * 15, "text-anchor": "middle", "dominant-baseline": "central" }, group, line));
    pressed(group, () => go(i));
    group.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];  // the boxes of a stack are listed from the bottom up
      if (!step) return;
      event.preventDefault();
      if (map.boxes[i + step]?.stack !== box.stack) return;
      boxes[i + step].focus();
      up(i + step);
    });
    return group;
  });
  const progress = make("line", { class: "progress" }, svg);
  const layers = map.layers.map((each) => ({ ...each, groups: numbers(svg, each, of(each.stack), turn) }));
  const tokenMarkers = { encoder: tokenMarker(svg, "encoder", of("encoder")), decoder: tokenMarker(svg, "decoder", of("decoder")) };
  place.replaceChildren(svg);
  return { svg, map, boxes, layers, tokenMarkers, progress, memory: drawn.at(-1) };
}

function moveMarker(group, text, x, y, measure) {
  const shown = cut(inWords(text), LONGEST - 10, 14, (part, size) => 1.06 * measure(part, size));
  const width = Math.max(1.06 * measure(shown, 14) + 12, SHORTEST);
  const [rect, label] = group.children;
  rect.setAttribute("width", width);
  rect.setAttribute("x", -width / 2);
  label.textContent = shown;
  group.style.transform = `translate(${x}px, ${y}px)`;
}

// Shows the open station: its `box` on the map, the `part` of the box's stations that is done (0 to 1), the open layer
// of each stack, and the two tokens.
export function moveTo(drawn, { box, part, stack, layers, words, crossing }, measure) {
  const { map } = drawn, here = map.boxes[box], middle = here.y + here.height / 2;
  drawn.boxes.forEach((group, i) => {
    group.classList.toggle("on", i === box);
    group.setAttribute("aria-pressed", String(i === box));
  });
  for (const { stack: own, count, groups } of drawn.layers) {
    const open = layers[own];
    if (count > FEW) groups[1].lastChild.textContent = _("{number} of {count}", { number: open + 1, count });
    groups.forEach((group, i) => {
      const on = count > FEW ? i === 1 : i === open;
      group.classList.toggle("on", on);
      const names = [_("the layer before"), _("layer {layer} of {count}", { layer: open + 1, count }), _("the next layer")];
      const name = count > FEW ? names[i] : _("layer {layer}", { layer: i + 1 });
      group.setAttribute("aria-label", withLabel(STACKS[own], name));
      group.setAttribute("aria-pressed", String(on));
    });
  }
  const [from, to] = [here.x + 8, here.x + here.width - 8], y = here.y + here.height - 2.5;
  for (const [name, value] of Object.entries({ x1: from, x2: from + (to - from) * part, y1: y, y2: y })) drawn.progress.setAttribute(name, value);
  const apart = crossing ? CHIP / 2 + 2 : 0;
  const [rests, top] = map.arrows.at(-1).points[1];  // the source token is here until the decoder attends to it
  if (stack === "encoder" || crossing) moveMarker(drawn.tokenMarkers.encoder, words.encoder, map.lane, middle - apart, measure);
  else moveMarker(drawn.tokenMarkers.encoder, words.encoder, rests, top - CHIP / 2, measure);
  moveMarker(drawn.tokenMarkers.decoder, words.decoder, map.lane, stack === "encoder" ? map.height - CHIP : middle + apart, measure);
  drawn.tokenMarkers.decoder.style.opacity = stack === "encoder" ? 0 : 1;
  drawn.tokenMarkers.encoder.style.opacity = stack === "encoder" || crossing ? 1 : 0.55;
  drawn.memory.classList.toggle("flows", crossing);
  const frame = drawn.svg.parentElement, scale = drawn.svg.clientWidth / map.width;
  // A phone shows one stack at a time. The first station is there at once, without scrolling to it.
  frame.scrollTo({
    left: here.x < map.lane ? 0 : frame.scrollWidth,
    top: middle * scale - frame.clientHeight / 2,
    behavior: drawn.hasMoved ? "auto" : "instant",
  });
  drawn.hasMoved = true;
}
