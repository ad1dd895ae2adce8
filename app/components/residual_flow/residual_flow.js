// The stream of one token from top to bottom: a row of colours for the vector after each sub-layer, a thinner one for what
// the sub-layer added. All tokens are here, so another one is drawn at once; the server hears of it for the details.

import { asked, marked } from "../shared/arrow_keys.js";
import { decoded } from "../shared/arrays.js";
import { element, within } from "../shared/dom.js";
import { colors, painted } from "../shared/shades.js";
import { numbered } from "../shared/numbered_choices.js";
import { make, measurer } from "../shared/svg.js";
import { isDark } from "../shared/themed.js";
import { inWords, put } from "../shared/token.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";

const HEAD = 20, LEAST = 18, MOST = 72, FINGER = 44;  // px at the usual size of the type: of the heading, of a sub-layer
const PHONE = 520;
const SHORT = { "self-attention": "self", "encoder-decoder": "enc-dec", "feed-forward": "feed-fw" };
const said = (value) => value.toFixed(value < 10 ? 2 : 1);
const degrees = (value) => `${value.toFixed(0)}°`;

function skeleton(root) {
  const flow = element("div", "flow", root);
  const rows = Object.fromEntries([["encoder", "Source"], ["decoder", "Decoder reads"]].map(([stack, label]) => {
    const line = element("div", "tokens", flow);
    element("span", "", line, label);
    return [stack, element("div", { class: "chips sideways", role: "radiogroup", "aria-label": `Token of the ${stack}` }, line)];
  }));
  return { rows, frame: element("div", "frame downwards", flow), read: element("div", "read", flow) };
}

function chips(row, stack, data, state, choose) {
  const texts = data.tokens.join("\n");
  row.style.setProperty("--role", data.color);
  if (row.texts !== texts) {
    row.texts = texts;
    row.replaceChildren(...data.tokens.map((token, i) => {
      const button = element("button", { role: "radio", title: data.predicts.length ? `reads ${token}, predicts ${data.predicts[i]}` : "" });
      put(button, token);
      return button;
    }));
  }
  const chosen = state.stack === stack ? state.row : -1;
  [...row.children].forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === chosen));
    button.tabIndex = i === Math.max(chosen, 0) ? 0 : -1;
    button.onclick = () => choose(stack, i);
    button.onkeydown = (event) => {
      const goal = asked(event, i, data.tokens.length);
      if (goal === undefined) return;
      choose(stack, goal);
      marked(row, goal);
    };
  });
}

// What one sub-layer does, in words.
function words({ data, stack, row }, u) {
  const all = data.stacks[stack], { values: lengths } = decoded(all.lengths), { values: added } = decoded(all.addedLengths);
  const { values: angles } = decoded(all.toStream), count = all.parts.length;
  const [before, after] = [lengths[row * (count + 1) + u], lengths[row * (count + 1) + u + 1]];
  const { layer, name } = all.parts[u];
  return `Layer ${layer}, ${name}: adds a vector of length ${said(added[row * count + u])}, at ${degrees(angles[row * count + u])} to the stream; `
    + `length ${said(before)} → ${said(after)}${data.preNorm ? "" : " after LayerNorm"}.`;
}

function usual(state) {
  if (state.part !== null) return words(state, state.part);
  return "Thin rows: what a sub-layer adds. Thick rows: the stream after it. Point at one.";
}

function draw(root, state) {
  const { data, stack, row, parts: { frame, read } } = state, all = data.stacks[stack], count = all.parts.length;
  if (!frame.clientWidth) return undefined;
  const unit = scaleOfPage(), measure = measurer(root);
  const width = frame.clientWidth - 4, narrow = width < PHONE * unit;
  const room = (frame.clientHeight - HEAD * unit - 4) / (count + 1);
  const high = (narrow ? FINGER : within(room / unit, LEAST, MOST)) * unit;
  const names = all.parts.map(({ layer, name }) => `${layer} ${narrow ? SHORT[name] : name}`);
  const left = Math.max(...[data.start, ...names].map((name) => 1.06 * measure(narrow ? name.slice(0, 9) : name, 15.2 * unit))) + 10 * unit;
  const right = (narrow ? 108 : 210) * unit, across = width - left - right, table = colors(data.scale);
  const [vectors, added] = [decoded(all.vectors), decoded(all.added)], wide = vectors.shape[2];
  const lengths = decoded(all.lengths).values, addedLengths = decoded(all.addedLengths).values, angles = decoded(all.toLast).values;
  const strip = (values, of, place, y, height, parent) => make("image", {
    href: painted(values.subarray((row * of + place) * wide, (row * of + place + 1) * wide), 1, wide, table, (value) => value),
    x: left, y, width: across, height, preserveAspectRatio: "none", style: "image-rendering: pixelated" }, parent);
  const svg = make("svg", { class: "flow-picture picture", width, height: HEAD * unit + (count + 1) * high, role: "radiogroup",
    "aria-label": `The stream of ${all.tokens[row]}, ${stack}, sub-layer by sub-layer` });
  const at = { added: left + across + (narrow ? 58 : 62) * unit, length: narrow ? width : left + across + 122 * unit, pointer: left + across + 146 * unit, angle: width };
  const heading = (x, text, anchor = "end") => make("text", { class: "small", x, y: 13 * unit, "text-anchor": anchor }, svg, text);
  heading(left, narrow ? `${wide} numbers` : `${wide} numbers of ${inWords(all.tokens[row])}`, "start");
  [[at.added, "adds"], [at.length, "length"], ...(narrow ? [] : [[at.angle, "direction"]])].forEach(([x, text]) => heading(x, text));
  const longest = Math.max(...lengths.subarray(row * (count + 1), (row + 1) * (count + 1)));
  const numbers = (place, middle, parent) => {
    const length = lengths[row * (count + 1) + place], angle = angles[row * (count + 1) + place];
    const number = (x, text) => make("text", { class: "small", x, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, parent, text);
    if (place) number(at.added, `+ ${said(addedLengths[row * count + place - 1])}`);
    number(at.length, said(length));
    if (narrow) return;
    number(at.angle, degrees(angle));
    const reach = Math.min(high * 1.3, 34 * unit), pointer = make("g", { class: "pointer", stroke: all.color, "aria-hidden": "true" }, parent);
    make("path", { d: `M0,0H${reach}M${reach - 4 * unit},${-3 * unit}L${reach},0L${reach - 4 * unit},${3 * unit}`, fill: "none", "vector-effect": "non-scaling-stroke" }, pointer);
    pointer.style.transform = `translate(${at.pointer}px, ${middle + (reach / 2) * Math.sin((angle * Math.PI) / 180) * (length / longest)}px) rotate(${-angle}deg) scale(${Math.max(length / longest, 0.3)})`;
  };
  const y0 = HEAD * unit;
  make("text", { x: left - 8 * unit, y: y0 + high / 2, "text-anchor": "end", "dominant-baseline": "central" }, svg, narrow ? data.start.slice(0, 9) : data.start);
  strip(vectors.values, count + 1, 0, y0 + 0.2 * high, 0.8 * high, svg);
  numbers(0, y0 + high / 2, svg);
  const rows = all.parts.map((part, u) => {
    const y = y0 + (u + 1) * high, on = u === state.part;
    const group = make("g", { class: "part", role: "radio", "aria-checked": String(on), tabindex: on || (state.part === null && u === 0) ? 0 : -1, "aria-label": words(state, u) }, svg);
    make("rect", { class: "ground", x: 0, y, width, height: high, rx: 4 }, group);
    make("text", { x: left - 8 * unit, y: y + high / 2, "text-anchor": "end", "dominant-baseline": "central" }, group, names[u]);
    strip(added.values, count, u, y + 0.08 * high, 0.26 * high, group);
    strip(vectors.values, count + 1, u + 1, y + 0.38 * high, 0.58 * high, group);
    numbers(u + 1, y + high / 2, group);
    group.addEventListener("click", () => state.choosePart(u));
    group.addEventListener("pointerenter", () => { read.textContent = words(state, u); });
    group.addEventListener("pointerleave", () => { read.textContent = usual(state); });
    group.addEventListener("keydown", (event) => {
      const goal = asked(event, u, count);
      if (goal !== undefined) state.choosePart(goal);
    });
    return group;
  });
  read.textContent = usual(state);
  frame.replaceChildren(svg);
  return rows;
}

class Flow {
  constructor(root) {
    Object.assign(this, { root, parts: skeleton(root), part: null });
    watchSize(root, () => this.show());
    const arrived = () => (root.isConnected ? this.show() : document.removeEventListener("headlight-held", arrived));
    document.addEventListener("headlight-held", arrived);
  }

  // What the server says, unless it has not heard yet what was chosen since.
  take(state, send) {
    const another = this.scene !== state.scene;
    Object.assign(this, { send, scene: state.scene });
    if (another || state.heard >= (this.number ?? 0)) Object.assign(this, { stack: state.stack, row: state.row });
    this.show();
  }

  choose(stack, row) {
    if (stack !== this.stack) this.part = null;
    Object.assign(this, { stack, row });
    const told = numbered(this.root, stack, row);
    this.number = told.number;
    this.send(told);
    this.show();
  }

  choosePart(part) {
    this.part = part;
    this.drawn.forEach((group, u) => {
      group.setAttribute("aria-checked", String(u === part));
      group.setAttribute("tabindex", u === part ? 0 : -1);
    });
    this.parts.read.textContent = usual(this);
    this.drawn[part].focus({ preventScroll: true });
  }

  show() {
    const data = window.headlightHeld?.flow;
    if (data?.scene !== this.scene || !this.stack) return;
    this.data = data;
    const { tokens, parts } = data.stacks[this.stack];
    this.row = Math.min(this.row, tokens.length - 1);
    if (this.part >= parts.length) this.part = null;
    for (const [stack, row] of Object.entries(this.parts.rows)) chips(row, stack, data.stacks[stack], this, (...token) => this.choose(...token));
    this.drawn = draw(this.root, this) ?? [];
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const flow = (root.headlightFlow ??= new Flow(root)), dark = isDark();
  flow.take(data, (told) => setTriggerValue("chosen", told));
  setTimeout(() => { if (isDark() !== dark) flow.show(); }, 100);  // this is called before the page has its new colours
}
