// Draws the matrix in units of 1/16 rem, so that it grows with the font of the page. Where cells are too small for
// every name, only each n-th name is written, and the names of the row and the column that are pointed at.

import { cellByKey } from "../shared/arrow_keys.js";
import { handled } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { cellText, fixed, percent } from "../shared/numbers.js";
import { shades } from "../shared/shades.js";
import { cut, hatch, make, measurer, write } from "../shared/svg.js";
import { scaleOfPage } from "../shared/watch_size.js";

const HEIGHT = 366, LARGEST = 44, TEXT = 15, SMALLEST = 14, NUMBERS_FROM = 30, BESIDE = 190, WIDEST = 280, NARROW = 520;
const STILL = 6;  // px: after the mouse wheel was turned, a smaller move of the pointer is ignored
const ARROW = 22, LONGEST = 104;  // units: the gap between the token read and the one written; the largest width of either

function sized(root, data, measure) {
  const unit = scaleOfPage(), width = root.clientWidth / unit;
  const size = data.reads.length, high = data.height ?? HEIGHT, narrow = width < NARROW;
  const widest = (tokens) => Math.max(...tokens.map((token) => measure(token, TEXT)));
  const longest = widest(data.reads), written = Math.min(Math.max(1.1 * widest(data.predicts), 46), narrow ? 68 : LONGEST);  // bold is wider
  const left = written + (narrow ? 12 : Math.max(Math.min(1.1 * longest, LONGEST), 40) + ARROW + 12), top = Math.min(0.8 * longest + 8, 80) + 28;
  const beside = narrow ? 96 : Math.min(Math.max(width - left - (high - top), BESIDE), WIDEST);
  const fits = (width - left - beside) / size;
  const cell = Math.max(1, Math.min(4, fits), Math.min((high - top) / size, fits, LARGEST));
  return { unit, width, size, narrow, left, written, top, beside, cell, right: left + cell * size, bottom: top + cell * size };
}

export function matrix(root, stage, state, pointed, clicked, unpin) {
  const { data, passes } = state, measure = measurer(root), place = sized(root, data, measure);
  const { unit, width, size, left, top, cell, bottom } = place;
  const height = bottom + 6;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width: width * unit, height: height * unit, tabindex: 0, role: "group", class: `picture${data.clickable ? " clickable" : ""}` });
  hatch(svg);
  const weight = shades(data.scale), leak = shades(data.leak), signed = data.scores && shades(data.scores.scale);
  const layers = { allowed: make("g", {}, svg), leaks: make("g", { class: `leaks${data.given ? " outlined" : ""}`, "stroke-width": cell < 12 ? 0.4 : 1.5 }, svg), never: make("g", { class: "never" }, svg), forbidden: make("g", { class: "forbidden" }, svg) };
  const cells = [];
  for (let q = 0; q < size; q++) {
    runs(passes, size, q, (from, to, never) => bare(never ? layers.never : layers.forbidden, left + from * cell, top + q * cell, (to - from) * cell, cell));
    for (let k = 0; k < size; k++) {
      const at = q * size + k, forbidden = !passes[0].mask[at];
      if (forbidden && !passes[1].mask[at] && !data.scores) continue;
      const gap = cell > 8 ? 1 : 0, parent = forbidden ? layers.leaks : layers.allowed;
      const rect = make("rect", { class: "cell", x: left + k * cell, y: top + q * cell, width: cell - gap, height: cell - gap }, parent);
      const text = cell >= NUMBERS_FROM ? make("text", { class: "number", x: left + (k + 0.5) * cell, y: top + (q + 0.5) * cell, "text-anchor": "middle", "dominant-baseline": "central", style: "font-size: 14px" }, parent) : null;
      cells.push({ at, rect, text, shade: forbidden ? leak : weight });
    }
  }
  make("path", { class: "edge", d: staircase(place, passes[0].mask) }, svg);
  const labels = names(svg, data, place, measure), rows = predictions(svg, data, place, measure);
  const line = make("rect", { fill: "none", stroke: data.chosen, "stroke-width": 2, x: left, width: cell * size, height: cell }, svg);
  const box = make("rect", { fill: "none", stroke: data.chosen, "stroke-width": 4, width: cell, height: cell }, svg);

  const kept = make("rect", { class: "pinned", fill: "none", stroke: data.chosen, "stroke-width": 3, "stroke-dasharray": "5 3", width: cell, height: cell }, svg);

  function point() {
    const { query, key, pinned } = state;
    kept.style.visibility = pinned ? "" : "hidden";
    kept.setAttribute("x", left + (pinned?.key ?? 0) * cell);
    kept.setAttribute("y", top + (pinned?.query ?? 0) * cell);
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
    const scores = state.shownScores, limit = scores && (Math.max(...scores.map(Math.abs)) || 1);
    svg.classList.toggle("free", state.free);
    svg.classList.toggle("scores", Boolean(scores));
    svg.setAttribute("aria-label", (scores ? data.scores : pass).alt);
    for (const { at, rect, text, shade } of cells) {
      const { fill, ink } = scores ? signed((scores[at] / limit + 1) / 2) : shade(pass.weights[at]);
      const isShown = scores || pass.mask[at];
      rect.style.fill = isShown ? fill : "url(#hatch)";
      if (text) { text.textContent = !isShown ? "" : scores ? fixed(scores[at], Math.abs(scores[at]) < 10 ? 1 : 0) : cellText(pass.weights[at]); text.style.fill = ink; }
    }
    rows.forEach((row) => row(pass, state.free));
    point();
  }
  function go(query, key) {
    Object.assign(state, { query, key });
    point();
    pointed();
  }
  const back = () => { if (state.pinned) go(state.pinned.query, state.pinned.key); };
  const follow = (event) => {
    const frame = svg.getBoundingClientRect(), scale = width / frame.width;
    const [k, q] = [(event.clientX - frame.left) * scale - left, (event.clientY - frame.top) * scale - top].map((at) => Math.floor(at / cell));
    const isCell = Math.min(q, k) >= 0 && Math.max(q, k) < size;
    if (state.pinned && !isCell) back();
    else if (q >= 0 && q < size) go(q, k >= 0 && k < size ? k : state.key);
  };
  // Trap: turning the wheel also moves the mouse a little. Some browsers also report that the pointer moves when the
  // page scrolls under a resting pointer, or is scrolled with a finger
  // (test_the_wheel_scrolls_the_page_and_chooses_no_cell).
  let scrolled = null;  // the last turn of the wheel; null after the pointer has really moved
  svg.addEventListener("wheel", (event) => { scrolled = event; }, { passive: true });
  svg.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || !(event.movementX || event.movementY)) return;
    if (scrolled && Math.hypot(event.clientX - scrolled.clientX, event.clientY - scrolled.clientY) < STILL) return;
    scrolled = null;
    follow(event);
  });
  svg.addEventListener("pointerleave", back);
  svg.addEventListener("focusout", back);
  svg.addEventListener("click", (event) => {
    follow(event);
    if (event.target.closest(".cell, .hidden-cell")) clicked(); else unpin();
  });
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { handled(event); clicked(); }
    if (event.key === "Escape") unpin();
    const cell = cellByKey(event, [state.query, state.key], size, size);
    if (cell) go(...cell);
  });
  stage.replaceChildren(svg);
  return { point, update };
}

// Calls found(from, to, never) for each run of neighbouring cells of row q that are hidden with the causal mask.
// `never`: they are hidden without it, too.
function runs([masked, free], size, q, found) {
  const kind = (k) => (k < size && !masked.mask[q * size + k] ? (free.mask[q * size + k] ? "causal" : "never") : "");
  for (let from = 0, k = 1; k <= size; k++) {
    if (kind(k) === kind(from)) continue;
    if (kind(from)) found(from, k, kind(from) === "never");
    from = k;
  }
}

const bare = (parent, x, y, width, height) => make("rect", { x, y, width, height, fill: "url(#hatch)", class: "hidden-cell" }, parent);

// The edge between what each row may attend to and the later tokens that the mask hides from it.
function staircase({ size, left, top, cell }, mask) {
  let path = "";
  for (let q = 0; q < size - 1; q++) {
    if (mask[q * size + q + 1]) continue;
    const x = left + (q + 1) * cell, y = top + q * cell;
    path += `M${x},${y}V${y + cell}H${x + cell}`;
  }
  return path || "M0,0";
}

// Beside each row the token that it reads and the one that it writes; on a phone only the latter.
function names(svg, data, { width, left, written, top, cell, narrow }, measure) {
  const every = Math.max(Math.ceil(SMALLEST / cell), 1), found = [];
  const style = `font-size: ${TEXT}px; fill: ${data.colors.decoder}`, middle = { "dominant-baseline": "central", style };
  const wrote = left - 8 - written, read = wrote - ARROW, room = read - 4;
  const title = { class: "quiet", y: top - 8, style: "font-size: 14px" };
  make("text", { ...title, x: wrote }, svg, _("writes"));
  if (!narrow) make("text", { ...title, x: read, "text-anchor": "end" }, svg, _("reads"));
  make("text", { ...title, x: left, y: 14 }, svg, cut(narrow ? _("Rows are queries, columns are keys") : _("Rows are queries, columns are keys: the tokens that the decoder has read"), width - left, 14, measure));
  const label = (axis, index, attributes, text, most) => {
    const node = make("text", { class: "label", style, ...attributes }, svg);
    write(node, cut(text, most, TEXT, measure));
    found.push({ node, axis, index, every });
  };
  data.reads.forEach((token, index) => {
    const y = top + (index + 0.5) * cell, x = left + (index + 0.5) * cell;
    label("query", index, { ...middle, x: wrote, y }, data.predicts[index], written);
    if (!narrow) {
      label("query", index, { ...middle, x: read, y, "text-anchor": "end" }, token, room);
      label("query", index, { ...middle, x: wrote - ARROW / 2, y, "text-anchor": "middle" }, "→", ARROW);
    }
    label("key", index, { transform: `translate(${x - 2},${top - 6}) rotate(-52)` }, token, (top - 28) / 0.8);
  });
  return found;
}

// Beside each row: how probable the token that it writes is; without the mask, also what is ranked first instead.
function predictions(svg, data, { top, cell, right, beside, narrow }, measure) {
  const bar = right + 14, room = narrow ? 34 : 60, after = bar + room + 6;
  const small = "font-size: 14px", text = cell >= SMALLEST, middle = { "dominant-baseline": "central" };
  const whole = _("probability"), heading = narrow ? cut(whole, beside - 14, 14, measure) : whole;
  const next = Math.max(after + 44, bar + measure(heading, 14) + 10);
  make("text", { class: "quiet", x: bar, y: top - 8, style: small }, svg, heading);
  const others = narrow || !text ? null : make("text", { class: "quiet", x: next, y: top - 8, style: small }, svg, _("ranked first"));
  return data.predicts.map((unused, q) => {
    const y = top + (q + 0.5) * cell, high = Math.max(Math.min(cell - 6, 16), 2);
    const base = { y: y - high / 2, height: high, rx: Math.min(2, high / 2) };
    make("rect", { ...base, x: bar, width: room, fill: data.colors.faint }, svg);
    const filled = make("rect", { ...base, class: "bar", x: bar, fill: data.colors.decoder }, svg);
    const kept = make("rect", { ...base, class: "kept", x: bar, width: Math.max(room * data.masked.probabilities[q], 1) }, svg);
    const value = text ? make("text", { class: "number", x: after, y, ...middle, style: small }, svg) : null;
    const other = others ? make("text", { class: "other", x: after + 44, y, ...middle, style: small }, svg) : null;
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
