// The stream of one token from top to bottom: a row of colours for the vector after each sub-layer, a thinner row for
// what the sub-layer added. The browser has the data of all tokens, so it draws another token at once; it sends the
// choice to the server for the details and for links. Two buttons take away the chosen sub-layer or its residual
// connection; then the server computes again.

import { writeInAddress } from "../shared/address.js";
import { itemByKey, markChosen } from "../shared/arrow_keys.js";
import { element, within } from "../shared/dom.js";
import { colors, painted } from "../shared/shades.js";
import { _ } from "../shared/language.js";
import { isNewSession, numbered } from "../shared/numbered_choices.js";
import { centred } from "../shared/radios.js";
import { make, measurer, pixels } from "../shared/svg.js";
import { drawSublayer } from "./sublayer.js";
import { isDark, onNewColors } from "../shared/themed.js";
import { inWords, put } from "../shared/token.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";
import { degrees, isReplaced, largest, lengthText, words } from "./words.js";

const HEAD = 20, LEAST = 15, MOST = 72, FINGER = 44, BRANCH = 30;  // px at 1280x720; BRANCH: from a box to the line
const NAME = 15.2, SMALLEST = 14, BOLD = 1.06;  // px: font size of a name; BOLD: width of bold over normal type
const PHONE = 520;
const SHORT = { self_attention: _("self"), cross_attention: _("enc-dec"), feed_forward: _("feed-fw") };
const STACKS = { encoder: _("encoder"), decoder: _("decoder") };
const ADDRESS = { encoder: "s", decoder: "t" };  // the parameter of the address with the token of a stack
const TAKEN = { sublayer: _("the sub-layer"), residual: _("its residual connection") };  // the first: see `showTaken`
const TITLE = { sublayer: _("Without the sub-layer, nothing is added to the stream x."), residual: _("Without the residual connection, x is not added to Sublayer(x).") };
const named = ({ layer, part, name }, narrow) => `${layer} ${narrow ? SHORT[part] : name}`;

function skeleton(root) {
  const flow = element("div", "flow", root);
  const rows = Object.fromEntries([["encoder", _("Source"), _("Token of the encoder")], ["decoder", _("Decoder reads"), _("Token of the decoder")]].map(([stack, label, tokens]) => {
    const line = element("div", "tokens", flow);
    element("span", "", line, label);
    return [stack, element("div", { class: "chips sideways", role: "radiogroup", "aria-label": tokens }, line)];
  }));
  const frame = element("div", "frame downwards", flow), line = element("div", "line", flow), read = element("div", "read", line);
  const edits = element("div", { class: "edits", role: "group" }, line);
  element("span", "", edits, _("Take away:"));
  const taken = Object.entries(TAKEN).map(([name, text]) => [name, element("button", { title: TITLE[name] }, edits, text)]);
  return { rows, frame, read, edits, taken: Object.fromEntries(taken) };
}

function chips(row, stack, data, state, choose) {
  const texts = data.tokens.join("\n");
  row.style.setProperty("--role", data.color);
  if (row.texts !== texts) {
    row.texts = texts;
    row.replaceChildren(...data.tokens.map((token, i) => {
      const button = element("button", { role: "radio", title: data.predicts.length ? _("reads {token}, predicts {predicts}", { token, predicts: data.predicts[i] }) : "" });
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
      const goal = itemByKey(event, i, data.tokens.length);
      if (goal !== undefined) { choose(stack, goal); markChosen(row, goal); }
    };
  });
  if (chosen >= 0) centred(row, row.children[chosen]);
}

// The chosen sub-layer. If none is chosen: one that is edited, or else the one that adds most to this token.
function selected({ data, stack, row, part, off }) {
  if (part !== null) return part;
  const { parts } = data.stacks[stack];
  const edited = parts.findIndex(({ edits }) => off.has(edits.residual) || off.has(edits.sublayer));
  return edited >= 0 ? edited : Math.max(largest(data.stacks[stack], row), 0);
}

// The colours of the vectors of a token before the first and after each sub-layer, see app/views/residual/flow.py:
// (1 + U, D). In a Uint8Array, 255 + 1 is 0: `rest` is made for that.
function vectorsOf({ start, added, rest }, row) {
  const [, count, wide] = added.shape, from = row * count * wide, vectors = new Uint8Array((count + 1) * wide);
  vectors.set(start.values.subarray(row * wide, (row + 1) * wide));
  for (let i = 0; i < count * wide; i += 1) vectors[wide + i] = vectors[i] + added.values[from + i] + rest.values[from + i];
  return vectors;
}

function draw(root, state) {
  const { data, stack, row, parts: { frame, read } } = state, all = data.stacks[stack], count = all.parts.length;
  if (!frame.clientWidth) return undefined;
  const unit = scaleOfPage(), measure = measurer(root);
  const width = frame.clientWidth - 4, narrow = width < PHONE * unit;
  const room = (frame.clientHeight - HEAD * unit - 4) / (count + 1);
  const high = (narrow ? FINGER : within(room / unit, LEAST, MOST)) * unit;
  const names = all.parts.map((part) => named(part, narrow)), size = within(0.86 * high, SMALLEST * unit, NAME * unit);
  const boxed = Math.max(...names.map((name) => BOLD * measure(name, NAME * unit))) + 10 * unit;
  const start = narrow ? all.starts[row].slice(0, 9) : all.starts[row], line = Math.max(boxed, BOLD * measure(start, NAME * unit) - (BRANCH - 10) * unit) + BRANCH * unit, left = line + 14 * unit;
  const originally = all.lengthsBefore && !narrow && all.lengthsBefore.values, chosen = selected(state);
  const right = (narrow ? 108 : originally ? 290 : 210) * unit, across = width - left - right, table = colors(data.scale);
  const wide = all.added.shape[2], vectors = vectorsOf(all, row), added = all.added.values.subarray(row * count * wide);
  const lengths = all.lengths.values, addedLengths = all.addedLengths.values, angles = all.toLast.values;
  const strip = (values, place, y, height, parent) => pixels(parent, {
    href: painted(values.subarray(place * wide, (place + 1) * wide), 1, wide, table, (value) => value),
    x: left, y, width: across, height });
  const svg = make("svg", { class: "flow-picture picture", width, height: HEAD * unit + (count + 1) * high, role: "radiogroup",
    "aria-label": _("The stream of {token}, {stack}, sub-layer by sub-layer", { token: all.tokens[row], stack: STACKS[stack] }) });
  const at = { added: left + across + (narrow ? 58 : 62) * unit, length: narrow ? width : left + across + 122 * unit, before: left + across + 202 * unit, pointer: width - 64 * unit, angle: width };
  const heading = (x, text, anchor = "end") => make("text", { class: "small", x, y: 13 * unit, "text-anchor": anchor }, svg, text);
  heading(left, narrow ? _("{count} numbers", { count: wide }) : _("{count} numbers of {token}", { count: wide, token: inWords(all.tokens[row]) }), "start");
  [[at.added, _("adds")], [at.length, _("length")], ...(originally ? [[at.before, _("unedited")]] : []), ...(narrow ? [] : [[at.angle, _("direction")]])].forEach(([x, text]) => heading(x, text));
  const longest = Math.max(...lengths.subarray(row * (count + 1), (row + 1) * (count + 1)));
  const numbers = (place, middle, parent, edits) => {
    const length = lengths[row * (count + 1) + place], angle = angles[row * (count + 1) + place];
    const number = (x, text) => make("text", { class: "small", x, y: middle, "text-anchor": "end", "dominant-baseline": "central" }, parent, text);
    if (place) number(at.added, `${edits && state.off.has(edits.residual) ? "=" : "+"} ${lengthText(addedLengths[row * count + place - 1])}`);
    number(at.length, lengthText(length));
    if (originally) number(at.before, lengthText(originally[row * (count + 1) + place])).classList.add("before");
    if (narrow) return;
    number(at.angle, degrees(angle));
    const reach = Math.min(high * 1.3, 34 * unit), pointer = make("g", { class: "pointer", stroke: all.color, "aria-hidden": "true" }, parent);
    make("path", { d: `M0,0H${reach}M${reach - 4 * unit},${-3 * unit}L${reach},0L${reach - 4 * unit},${3 * unit}`, fill: "none", "vector-effect": "non-scaling-stroke" }, pointer);
    pointer.style.transform = `translate(${at.pointer}px, ${middle + (reach / 2) * Math.sin((angle * Math.PI) / 180) * (length / longest)}px) rotate(${-angle}deg) scale(${Math.max(length / longest, 0.3)})`;
  };
  const y0 = HEAD * unit;
  const label = (x, middle, parent, text) => make("text", { x, y: middle + 0.36 * size, "text-anchor": "end", style: `font-size: ${size}px` }, parent, text);  // vertically centred
  label(line - 9 * unit, y0 + high / 2, svg, start);
  make("path", { d: `M${line},${y0 + 0.2 * high}V${y0 + high}`, stroke: all.color, "stroke-width": 3 * unit }, svg);
  strip(vectors, 0, y0 + 0.2 * high, 0.8 * high, svg);
  numbers(0, y0 + high / 2, svg);
  const rows = all.parts.map(({ edits }, u) => {
    const y = y0 + (u + 1) * high, on = u === chosen;
    const group = make("g", { class: "part", role: "radio", "aria-checked": String(on), tabindex: on ? 0 : -1, "aria-label": words(state, u) }, svg);
    make("rect", { class: "ground", x: 0, y, width, height: high, rx: 4 }, group);
    drawSublayer(group, { from: line - BRANCH * unit - boxed, to: line - BRANCH * unit, x: line, y, high, unit, color: all.color },
      { works: !state.off.has(edits.sublayer), connected: !state.off.has(edits.residual), replaced: isReplaced(all, row, u + 1), last: u === count - 1 });
    label(line - (BRANCH + 5) * unit, y + high / 2, group, names[u]);
    strip(added, u, y + 0.08 * high, 0.26 * high, group);
    strip(vectors, u + 1, y + 0.38 * high, 0.58 * high, group);
    numbers(u + 1, y + high / 2, group, edits);
    group.addEventListener("click", () => state.choosePart(u));
    group.addEventListener("pointerenter", () => { read.textContent = words(state, u); });
    group.addEventListener("pointerleave", () => { read.textContent = words(state, selected(state)); });
    group.addEventListener("keydown", (event) => {
      const goal = itemByKey(event, u, count);
      if (goal !== undefined) state.choosePart(goal);
    });
    return group;
  });
  read.textContent = words(state, chosen);
  frame.replaceChildren(svg);
  return rows;
}

const shownBy = ({ scene, stack, row, part, off }) => JSON.stringify([scene, stack, row, part, ...off]);

class Flow {
  constructor(root) {
    Object.assign(this, { root, parts: skeleton(root), part: null, off: new Set() });
    for (const [name, button] of Object.entries(this.parts.taken)) button.addEventListener("click", () => this.toggle(name));
    watchSize(root, () => this.show());
    const arrived = () => (root.isConnected ? this.show() : document.removeEventListener("headlight-held", arrived));
    document.addEventListener("headlight-held", arrived);
  }

  // Takes over the choice of the server, unless it is older than the newest choice of this browser.
  take(state, send) {
    const another = this.scene !== state.scene;
    if (isNewSession(this, state.received)) this.number = 0;
    Object.assign(this, { send, scene: state.scene });
    if (another || state.received >= (this.number ?? 0)) Object.assign(this, { stack: state.stack, row: state.row, part: state.part < 0 ? null : state.part, off: new Set(state.off) });
    if (this.shows !== shownBy(this)) this.show();  // otherwise it is drawn already
  }

  choose(stack, row) {
    if (stack !== this.stack) this.part = null;
    Object.assign(this, { stack, row });
    writeInAddress({ stream: stack, [ADDRESS[stack]]: row + 1, sub_layer: this.part === null ? null : this.part + 1 });
    this.report(stack, row);
    this.show();
  }

  toggle(name) {
    this.part = selected(this);
    const text = this.data.stacks[this.stack].parts[this.part].edits[name], wasOff = this.off.delete(text);
    if (!wasOff) this.off.add(text);
    this.report(text, Number(!wasOff));
    this.show();
  }

  report(name, index) {
    const choice = numbered(this.root, name, index);
    this.number = choice.number;
    this.send(choice);
  }

  choosePart(part) {
    this.part = part;
    this.drawn.forEach((group, u) => {
      group.setAttribute("aria-checked", String(u === part));
      group.setAttribute("tabindex", u === part ? 0 : -1);
    });
    this.parts.read.textContent = words(this, part);
    this.showTaken();
    this.shows = shownBy(this);
    this.drawn[part].focus();  // scrolls to it
    writeInAddress({ sub_layer: part + 1 });
    this.report("part", part);
  }

  // Shows what is taken away at the chosen sub-layer. The button with its name is as wide as the longest name needs.
  showTaken() {
    const chosen = this.data.stacks[this.stack].parts[selected(this)], { layer, name, edits } = chosen, { sublayer } = this.parts.taken;
    const all = Object.values(this.data.stacks).flatMap(({ parts }) => parts), measure = measurer(this.root);
    const narrow = this.root.clientWidth < PHONE * scaleOfPage();
    sublayer.textContent = named(chosen, narrow);
    sublayer.style.minWidth = `calc(${Math.ceil(Math.max(...all.map((part) => measure(named(part, narrow), NAME * scaleOfPage()))))}px + 1.4rem)`;
    this.parts.edits.setAttribute("aria-label", _("Take away at layer {layer}, {name}", { layer, name }));
    for (const [which, button] of Object.entries(this.parts.taken)) button.setAttribute("aria-pressed", String(this.off.has(edits[which])));
  }

  show() {
    const data = window.headlightHeld?.flow;
    if (data?.scene !== this.scene || !this.stack) return;
    this.data = data;
    const { tokens, parts } = data.stacks[this.stack];
    this.row = Math.min(this.row, tokens.length - 1);
    if (this.part >= parts.length) this.part = null;
    for (const [stack, row] of Object.entries(this.parts.rows)) chips(row, stack, data.stacks[stack], this, (...token) => this.choose(...token));
    this.showTaken();
    this.drawn = draw(this.root, this) ?? [];
    this.shows = shownBy(this);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const flow = (root.headlightFlow ??= new Flow(root)), dark = isDark();
  flow.take(data, (choice) => setTriggerValue("chosen", choice));
  onNewColors(() => { if (isDark() !== dark) flow.show(); });
}
