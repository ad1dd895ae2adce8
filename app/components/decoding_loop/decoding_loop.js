// One step of the decoder's loop: source and encoder at the left, output and decoder at the right, below them the
// cached keys and values (one row per layer, one column per position, K above V), then logits, softmax, the chosen
// token, and the path on which it becomes the next input.

import { placedChips } from "./chips.js";
import { button, focusedIn } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { decimal } from "../shared/numbers.js";
import { cut, make, measurer, write } from "../shared/svg.js";
import { watchWidth } from "../shared/watch_size.js";

const CHIP = 28, BAR = 5, NARROWEST = 540;

function draw(root, data, state) {
  const width = Math.max(root.clientWidth, NARROWEST);
  const measure = measurer(root);
  const color = data.colors;
  const back = 26, gutter = 26;  // px: the room for the path back at the right, and between the two halves
  const half = (width - back - gutter) / 2;
  const left = { x: 0, w: half }, right = { x: half + gutter, w: half };
  const svg = make("svg", { role: "img", "aria-label": data.alt, class: "picture loop" });
  const arrow = (name, fill) => {
    const marker = make("marker", { id: name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto" }, svg);
    make("path", { d: "M0,0 L8,4 L0,8 z", fill }, marker);
  };
  arrow("tip", "#808896");
  arrow("tip-back", color.decoder);

  let size, laid;
  const isWhole = ({ hiddenBefore, hiddenAfter }) => !hiddenBefore && !hiddenAfter;
  const lay = (most) => [placedChips(data.source, left.w, size, most, measure), placedChips(data.output, right.w, size, most, measure)];
  for (const [type, most] of [[16, 2], [14, 3], [12.5, 3]]) {
    size = type;
    laid = lay(most);
    if (laid.every(isWhole)) break;
  }
  const folds = !laid.every(isWhole);
  if (folds && state.all) laid = lay(Infinity);
  const lines = Math.max(laid[0].lines, laid[1].lines), line = CHIP + BAR + 7;
  const top = 26, below = top + lines * line;
  [[data.source, left, color.encoder], [data.output, right, color.decoder]].forEach(([side, half, role], n) => {
    make("text", { class: "caption", x: half.x, y: 15, style: `fill:${role}` }, svg, side.caption);
    const { hiddenBefore, hiddenAfter, moreAt } = laid[n];
    if (hiddenBefore) make("text", { class: "small", x: half.x, y: top + 18 }, svg, _("{count} more …", { count: hiddenBefore }));
    if (moreAt) make("text", { class: "small", x: half.x + moreAt.x, y: top + moreAt.line * line + 18 }, svg, _("… {count} more", { count: hiddenAfter }));
    for (const { i, x, line: row, w } of laid[n].places) {
      const newest = n === 1 && i === side.tokens.length - 1;
      const group = make("g", { class: newest ? "chip newest" : "chip", transform: `translate(${half.x + x},${top + row * line})` }, svg);
      make("title", {}, group, _("{token}: weight {weight}", { token: side.tokens[i], weight: decimal(side.weights[i]) }));
      make("rect", { width: w, height: CHIP, rx: 7, fill: role, stroke: newest ? role : "none" }, group);
      write(make("text", { x: w / 2, y: 19, "text-anchor": "middle", style: `font-size:${size}px` }, group), side.tokens[i]);
      make("rect", { class: "track", y: CHIP + 2, width: w, height: BAR, rx: 2 }, group);
      make("rect", { class: "weight", y: CHIP + 2, width: (w * Math.min(side.weights[i], 1)).toFixed(1), height: BAR, rx: 2, fill: role, "data-weight": side.weights[i] }, group);
    }
  });

  const boxTop = below + 16, boxHeight = 50;
  [[data.encoder, left, color.encoder], [data.decoder, right, color.decoder]].forEach(([texts, half, role]) => {
    make("path", { class: "flow", d: `M${half.x + half.w / 2},${below - 2} v17`, "marker-end": "url(#tip)" }, svg);
    make("rect", { class: "stack", x: half.x, y: boxTop, width: half.w, height: boxHeight, rx: 9, fill: role, stroke: role }, svg);
    make("text", { class: "strong", x: half.x + half.w / 2, y: boxTop + 21, "text-anchor": "middle" }, svg, texts[0]);
    make("text", { class: "small", x: half.x + half.w / 2, y: boxTop + 40, "text-anchor": "middle" }, svg, texts[1]);
  });

  const gridTop = boxTop + boxHeight + 40, cell = Math.max(5, Math.min(13, 84 / data.own.layers)), gridHeight = cell * data.own.layers;
  [[data.cross, left], [data.own, right]].forEach(([kept, half]) => {
    make("path", { class: "flow", d: `M${half.x + half.w / 2},${boxTop + boxHeight} v14`, "marker-end": "url(#tip)" }, svg);
    make("text", { class: "caption strong", x: half.x, y: gridTop - 9 }, svg, kept.title);
    const legend = make("text", { class: "small", x: half.x + half.w, y: gridTop - 9, "text-anchor": "end" }, svg);
    make("tspan", { style: `fill:${color.key};font-weight:700` }, legend, "K ");
    make("tspan", { style: `fill:${color.value};font-weight:700` }, legend, "V");
    const wide = Math.min(half.w / kept.room, 30);
    const grid = make("g", { class: "grid", "data-filled": kept.filled, "data-layers": kept.layers }, svg);
    for (let t = 0; t < kept.room; t++) for (let l = 0; l < kept.layers; l++) {
      const x = half.x + t * wide + 1, y = gridTop + l * cell + 0.5, w = Math.max(wide - 2, 1), h = (cell - 2) / 2;
      if (t < kept.filled) {
        make("rect", { x, y, width: w, height: h, fill: color.key }, grid);
        make("rect", { x, y: y + h, width: w, height: h, fill: color.value }, grid);
      } else make("rect", { class: "room", x, y, width: w, height: 2 * h }, grid);
    }
    if (kept.newest >= 0) make("rect", { class: "new", x: half.x + kept.newest * wide - 0.5, y: gridTop - 2, width: wide + 1, height: gridHeight + 3, rx: 3 }, svg);
    kept.lines.forEach((text, i) => make("text", { class: "small", x: half.x, y: gridTop + gridHeight + 18 + 17 * i }, svg, text));
  });

  const low = gridTop + gridHeight + 70, middle = low + 21;
  const parts = [[data.query, color.query], [data.logits, ""], [_("softmax"), ""]];
  const widths = parts.map(([text]) => measure(text, 14) + 20);
  const taken = widths.reduce((a, b) => a + b, 0) + 3 * 16;
  const chosenWidth = Math.min(measure(data.chosen, 19) + measure(data.probability, 14) + 44, width - back - taken);
  const space = (width - back - taken - chosenWidth) / 3 + 16;
  let x = 0;
  parts.forEach(([text, role], i) => {
    make("rect", { class: "part", x, y: low + 4, width: widths[i], height: 34, rx: 7, fill: role || "#808896", stroke: role || "#808896" }, svg);
    make("text", { class: "body", x: x + widths[i] / 2, y: middle + 5, "text-anchor": "middle" }, svg, text);
    make("path", { class: "flow", d: `M${x + widths[i]},${middle} h${space - 3}`, "marker-end": "url(#tip)" }, svg);
    x += widths[i] + space;
  });
  const chosen = make("g", { class: "chip newest", transform: `translate(${x},${low})` }, svg);
  make("rect", { width: chosenWidth, height: 42, rx: 9, fill: color.decoder, stroke: color.decoder }, chosen);
  const text = cut(data.chosen, chosenWidth - measure(data.probability, 14) - 34, 19, measure);
  write(make("text", { x: 12, y: 27, class: "large" }, chosen), text);
  make("text", { class: "body", x: chosenWidth - 10, y: 27, "text-anchor": "end" }, chosen, data.probability);
  const end = x + chosenWidth, edge = width - 6;
  if (data.last) make("text", { class: "small", x: end - 4, y: low + 58, "text-anchor": "end" }, svg, _("the loop ends here"));
  else {
    make("path", { class: "back", stroke: color.decoder, d: `M${end},${middle} H${edge - 8} q8,0 8,-8 V${top + 22} q0,-8 -8,-8 H${right.x + right.w + 4}`, "marker-end": "url(#tip-back)" }, svg);
    make("text", { class: "small", x: end - 4, y: low + 58, "text-anchor": "end" }, svg, _("fed in at the next step"));
  }
  make("text", { class: "small", x: 0, y: low + 58 }, svg, data.note);
  const height = low + 98;  // the last 32 px are for the download button
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const hadFocus = focusedIn(root);
  root.replaceChildren(...(folds ? [folding(root, data, state)] : []), svg);
  if (hadFocus) root.querySelector("button")?.focus();
}

function folding(root, data, state) {
  const text = state.all ? _("Fewer tokens") : _("All tokens");
  return button({ class: "folding", "aria-expanded": Boolean(state.all) }, null, text, () => { state.all = !state.all; draw(root, data, state); });
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { all: false });
  draw(root, data, state);
  return watchWidth(root, () => draw(root, data, state));
}
