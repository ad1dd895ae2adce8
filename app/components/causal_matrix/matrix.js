// Draws the matrix in units of 1/16 rem, so that it grows with the type of the page. Where the cells are too small for
// a name each, every second, third ... is written, and those of the row and column that are pointed at.

import { handled, within } from "../shared/dom.js";
import { cellText, percent } from "../shared/numbers.js";
import { shades } from "../shared/shades.js";
import { cut, make, measurer, write } from "../shared/svg.js";
import { scaleOfPage } from "../shared/watch_size.js";

const HEIGHT = 392, LARGEST = 44, TEXT = 15, SMALLEST = 14, NUMBERS_FROM = 30, PREDICTS = 240, WIDEST = 350, NARROW = 520;

function sized(root, data, measure) {
  const unit = scaleOfPage(), width = root.clientWidth / unit;
  const size = data.reads.length, high = data.height ?? HEIGHT, narrow = width < NARROW;
  const longest = Math.max(...data.reads.map((token) => measure(token, TEXT)));
  const left = Math.min(longest, narrow ? 64 : 120) + (narrow ? 16 : 34), top = Math.min(0.8 * longest + 8, 80) + 28;
  const beside = narrow ? 96 : Math.min(Math.max(width - left - (high - top), PREDICTS), WIDEST);
  const cell = Math.max(4, Math.min((high - top) / size, (width - left - beside) / size, LARGEST));
  return { unit, width, size, narrow, left, top, beside, cell, right: left + cell * size, bottom: top + cell * size };
}

export function matrix(root, stage, state, pointed, clicked) {
  const { data, passes } = state, measure = measurer(root), place = sized(root, data, measure);
  const { unit, width, size, left, top, cell, bottom } = place;
  const height = bottom + 6;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width: width * unit, height: height * unit, tabindex: 0, role: "group", class: `picture${data.clickable ? " clickable" : ""}` });
  hatch(svg);
  const weight = shades(data.scale), leak = shades(data.leak);
  const layers = { allowed: make("g", {}, svg), leaks: make("g", { class: `leaks${data.given ? " outlined" : ""}`, "stroke-width": cell < 12 ? 0.4 : 1.5 }, svg), never: make("g", {}, svg), forbidden: make("g", { class: "forbidden" }, svg) };
  const cells = [];
  for (let q = 0; q < size; q++) {
    runs(passes, size, q, (from, to, never) => bare(never ? layers.never : layers.forbidden, left + from * cell, top + q * cell, (to - from) * cell, cell));
    for (let k = 0; k < size; k++) {
      const at = q * size + k, forbidden = !passes[0].mask[at];
      if (forbidden && !passes[1].mask[at]) continue;
      const gap = cell > 8 ? 1 : 0, parent = forbidden ? layers.leaks : layers.allowed;
      const rect = make("rect", { class: "cell", x: left + k * cell, y: top + q * cell, width: cell - gap, height: cell - gap }, parent);
      const text = cell >= NUMBERS_FROM ? make("text", { class: "number", x: left + (k + 0.5) * cell, y: top + (q + 0.5) * cell, "text-anchor": "middle", "dominant-baseline": "central", style: "font-size: 14px" }, parent) : null;
      cells.push({ at, rect, text, shade: forbidden ? leak : weight });
    }
  }
  make("path", { class: "edge", d: staircase(place, passes[0].mask) }, layers.forbidden);
  const labels = names(svg, data, place, measure), rows = predictions(svg, data, place, measure);
  const line = make("rect", { fill: "none", stroke: data.chosen, "stroke-width": 2, x: left, width: cell * size, height: cell }, svg);
  const box = make("rect", { fill: "none", stroke: data.chosen, "stroke-width": 4, width: cell, height: cell }, svg);

  function point() {
    const { query, key } = state;
    line.setAttribute("y", top + query * cell);
    box.setAttribute("x", left + key * cell);
    box.setAttribute("y", top + query * cell);
    labels.forEach(({ node, axis, index, every }) => {
      const near = index === (axis === "query" ? query : key);
      node.classList.toggle("near", near);
      node.style.visibility = near || (index % every === 0 && Math.abs(index - (axis === "query" ? query : key)) >= every) ? "" : "hidden";
    });
  }
  function update() {
    const pass = passes[Number(state.free)];
    svg.classList.toggle("free", state.free);
    svg.setAttribute("aria-label", state.free ? data.free.alt : data.masked.alt);
    for (const { at, rect, text, shade } of cells) {
      const { fill, ink } = shade(pass.weights[at]);
      rect.style.fill = pass.mask[at] ? fill : "url(#hatch)";
      if (text) { text.textContent = pass.mask[at] ? cellText(pass.weights[at]) : ""; text.style.fill = ink; }
    }
    rows.forEach((row) => row(pass, state.free));
    point();
  }
  function go(query, key) {
    [state.query, state.key] = [query, key].map((at) => within(at, 0, size - 1));
    point();
    pointed();
  }
  const follow = (event) => {
    const frame = svg.getBoundingClientRect(), scale = width / frame.width;
    const [k, q] = [(event.clientX - frame.left) * scale - left, (event.clientY - frame.top) * scale - top].map((at) => Math.floor(at / cell));
    if (q >= 0 && q < size) go(q, k >= 0 && k < size ? k : state.key);
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("click", (event) => { if (event.target.closest(".cell, .hidden-cell")) clicked(); });
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Enter") clicked();
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step) return;
    handled(event);
    go(state.query + step[0], state.key + step[1]);
  });
  stage.replaceChildren(svg);
  return { update };
}

function hatch(svg) {
  const pattern = make("pattern", { id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, make("defs", {}, svg));
  make("rect", { class: "ground", width: 8, height: 8 }, pattern);
  make("line", { class: "strokes", x1: 0, x2: 0, y1: 0, y2: 8 }, pattern);
}

// The forbidden cells of a row that lie side by side: those of the causal mask, and those that never may be attended to.
function runs([masked, free], size, q, found) {
  const kind = (k) => (k < size && !masked.mask[q * size + k] ? (free.mask[q * size + k] ? "causal" : "never") : "");
  for (let from = 0, k = 1; k <= size; k++) {
    if (kind(k) === kind(from)) continue;
    if (kind(from)) found(from, k, kind(from) === "never");
    from = k;
  }
}

const bare = (parent, x, y, width, height) => make("rect", { x, y, width, height, fill: "url(#hatch)", class: "hidden-cell" }, parent);

// The edge between what may be attended to and the future.
function staircase({ size, left, top, cell }, mask) {
  let path = "";
  for (let q = 0; q < size - 1; q++) {
    if (mask[q * size + q + 1]) continue;
    const x = left + (q + 1) * cell, y = top + q * cell;
    path += `M${x},${y}V${y + cell}H${x + cell}`;
  }
  return path || "M0,0";
}

function names(svg, data, { left, top, cell, right, narrow }, measure) {
  const every = Math.max(Math.ceil(SMALLEST / cell), 1), found = [];
  const style = `font-size: ${TEXT}px; fill: ${data.colors.decoder}`;
  make("text", { class: "quiet", x: left - 8, y: top - 8, "text-anchor": "end", style: "font-size: 14px" }, svg, "reads");
  make("text", { class: "quiet", x: left, y: 14, style: "font-size: 14px" }, svg, cut(narrow ? "Rows are queries, columns are keys" : "Rows are queries, columns are keys: the tokens that the decoder has read", right - left + (narrow ? 96 : 250), 14, measure));
  data.reads.forEach((token, index) => {
    const y = top + (index + 0.5) * cell, x = left + (index + 0.5) * cell;
    const query = make("text", { class: "label", x: left - 8, y, "text-anchor": "end", "dominant-baseline": "central", style }, svg);
    write(query, cut(token, left - 14, TEXT, measure));
    const key = make("text", { class: "label", transform: `translate(${x - 2},${top - 6}) rotate(-52)`, style }, svg);
    write(key, cut(token, (top - 28) / 0.8, TEXT, measure));
    found.push({ node: query, axis: "query", index, every }, { node: key, axis: "key", index, every });
  });
  return found;
}

// Beside each row: what it predicts and how probable that is; without the mask, also what is ranked first instead.
function predictions(svg, data, { top, cell, right, beside, narrow }, measure) {
  const x = right + 14, wide = narrow ? 0 : 88, bar = x + wide, room = narrow ? 34 : 60, after = bar + room + 6;
  const small = "font-size: 14px", text = cell >= SMALLEST, middle = { "dominant-baseline": "central" };
  make("text", { class: "quiet", x, y: top - 8, style: small }, svg, narrow ? "predicts" : "predicts, how surely");
  const others = narrow ? null : make("text", { class: "quiet", x: after + 44, y: top - 8, style: small }, svg, "ranks first");
  return data.predicts.map((token, q) => {
    const y = top + (q + 0.5) * cell, high = Math.max(Math.min(cell - 6, 16), 2);
    const base = { y: y - high / 2, height: high, rx: Math.min(2, high / 2) };
    if (text && !narrow) write(make("text", { x, y, ...middle, style: `${small}; fill: ${data.colors.decoder}` }, svg), cut(token, wide - 6, 14, measure));
    make("rect", { ...base, x: bar, width: room, fill: data.colors.faint }, svg);
    const filled = make("rect", { ...base, class: "bar", x: bar, fill: data.colors.decoder }, svg);
    const kept = make("rect", { ...base, class: "kept", x: bar, width: Math.max(room * data.masked.probabilities[q], 1) }, svg);
    const value = text ? make("text", { class: "number", x: after, y, ...middle, style: small }, svg) : null;
    const other = text && others ? make("text", { class: "other", x: after + 44, y, ...middle, style: small }, svg) : null;
    return (pass, free) => {
      filled.setAttribute("width", Math.max(room * pass.probabilities[q], 1));
      kept.style.visibility = free ? "" : "hidden";
      if (others) others.style.visibility = free ? "" : "hidden";
      if (value) value.textContent = percent(pass.probabilities[q]);
      if (other) other.replaceChildren();
      if (other && !pass.right[q]) write(other, cut(pass.first[q], beside - (after + 44 - right), 14, measure));
    };
  });
}
