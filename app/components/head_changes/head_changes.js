// The heads of the second model, coloured by how much of their weight has moved. Beside them are the maps of the chosen
// head in both models, and their difference. The message is packed like that of the canvas and has all weights, so the
// browser shows another head without the server.

import { byTouch } from "../shared/hints.js";
import { maskOf, ofHead, unpacked } from "../canvas/message.js";
import { isOfBrowser, itemByKey } from "../shared/arrow_keys.js";
import { button, element, handled } from "../shared/dom.js";
import { _, withLabel } from "../shared/language.js";
import { mapSize, newMap } from "./map.js";
import { numbered } from "../shared/numbered_choices.js";
import { fixed, percent } from "../shared/numbers.js";
import { colors, painted } from "../shared/shades.js";
import { make, measurer } from "../shared/svg.js";
import { isDark, onNewColors } from "../shared/themed.js";
import { rem, watchSize } from "../shared/watch_size.js";

const PHONE = 40, TITLE = 1.5, LEAST = 0.35, TALLEST = 2.2, BESIDE = 5.4, ON_PHONE = 22;  // rem
const signedSqrt = (value) => Math.sign(value) * Math.sqrt(Math.abs(value));  // a square root: small weights are visible, too
const changeOf = ({ moved, partner }) => (partner ? _("{share} of its weight has moved", { share: percent(moved) }) : _("no matching head in the other model"));
const placeOf = (layer, head) => _("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });

const changes = {
  start(message) {
    Object.assign(this, { message, at: message.chosen, cell: null, count: message.kinds.length / 2 });
    this.scales = message.kinds.map(({ color }) => [[0, message.ground], [1, color]]);
    this.place = new Map(message.order.map(({ kind, layer, head }, i) => [`${kind} ${layer} ${head}`, i]));
    this.build();
    this.arrange();
  },
  build() {
    const { root, message } = this, box = element("div", { class: "changes picture", role: "figure", "aria-label": message.alt });
    this.buttons = [];
    const boards = element("div", { class: "boards sideways", role: "radiogroup", "aria-label": _("Heads, by how much of their weight has moved") }, box);
    for (let kind = 0; kind < this.count; kind++) this.board(boards, kind);
    boards.addEventListener("keydown", (event) => this.walk(event));
    const side = element("div", "side", box), line = element("div", "line", side);
    this.previous = button({ "aria-label": _("The head that changes more") }, line, "‹", () => this.choose(this.at - 1));
    this.next = button({ "aria-label": _("The head that changes less") }, line, "›", () => this.choose(this.at + 1));
    this.says = element("span", { class: "says", role: "status" }, line);
    this.maps = element("div", "maps", side);
    this.pointed = element("p", { class: "pointed", role: "status" }, side);
    root.replaceChildren(box);
    this.box = box;
  },
  board(boards, kind) {
    const { title, color, layers, heads } = this.message.kinds[this.count + kind], board = element("div", "board", boards);
    board.style.setProperty("--hue", color);
    board.style.setProperty("--heads", heads);
    element("div", "title", board, title);
    const grid = element("div", "grid", board);
    if (kind === 0) ["", ...Array.from({ length: heads }, (unused, head) => head + 1)].forEach((text, i) => element("span", "number", grid, i === 0 || heads <= 12 ? text : ""));
    for (let layer = 0; layer < layers; layer++) {
      element("span", layer % 2 ? "number even" : "number", grid, layer + 1);
      for (let head = 0; head < heads; head++) {
        const place = this.place.get(`${kind} ${layer} ${head}`), { moved, partner } = this.message.order[place];
        const name = _("{kind}, layer {layer}, head {head}: {change}", { kind: title, layer: layer + 1, head: head + 1, change: changeOf({ moved, partner }) });
        const node = button({ role: "radio", class: partner ? "cell" : "cell alone", "aria-label": name }, grid, undefined, () => this.choose(place));
        node.title = name;
        node.style.setProperty("--share", partner ? `${100 * Math.sqrt(moved)}%` : "0%");
        this.buttons[place] = node;
      }
    }
  },
  // Arrow keys in the boards: to the head beside it, or to the layer above or below.
  walk(event) {
    if (isOfBrowser(event)) return;
    const { heads } = this.message.kinds[this.count];
    const all = [...this.box.querySelectorAll(".cell")], now = all.indexOf(this.buttons[this.at]);
    const goal = { ArrowUp: now - heads, ArrowDown: now + heads }[event.key] ?? itemByKey(event, now, all.length);
    if (goal === undefined) return;
    handled(event);
    const node = all[goal];
    if (!node) return;
    node.focus({ preventScroll: true });
    this.choose(this.buttons.indexOf(node));
  },
  choose(place) {
    if (place < 0 || place >= this.message.order.length || place === this.at) return;
    const before = this.message.order[this.at].kind;
    this.at = place;
    if (this.message.order[place].kind === before) this.show();
    else this.arrange();
    this.send(numbered(this.root, "head", place));
  },
  arrange() {
    const { box, message, maps } = this, unit = rem() / 16;
    if (!box.clientWidth) return;
    this.width = box.clientWidth;
    this.narrow = box.clientWidth < PHONE * rem();
    this.high = box.clientHeight;
    const rows = 1 + message.kinds.slice(this.count).reduce((sum, each) => sum + each.layers, 0);  // 1: the row of head numbers
    const row = Math.max((this.high - this.count * TITLE * rem()) / rows, LEAST * rem());
    box.style.setProperty("--row", `${Math.min(row, TALLEST * rem())}px`);
    box.classList.toggle("dense", row < rem());
    this.cell = null;
    const { queries, keys } = message.kinds[this.count + message.order[this.at].kind];
    const axes = { rows: message.tokens[message.order[this.at].kind][0], columns: message.tokens[message.order[this.at].kind][1] };
    const gap = 1.4 * rem(), room = { width: maps.clientWidth, height: this.narrow ? ON_PHONE * rem() : this.high - BESIDE * rem(), maps: this.narrow ? 1 : 3, gap, measure: measurer(box), unit };
    const size = mapSize(axes, room);
    const act = (cell) => { this.cell = cell; this.point(); };
    act.cell = () => this.cell;
    maps.replaceChildren();
    this.titles = [];
    this.drawn = [0, 1, 2].map((which) => {
      const part = element("div", "part", maps), named = this.narrow || which === 0;
      part.style.setProperty("--left", named ? `${size.left}px` : "2px");
      this.titles[which] = element("div", "title", element("div", "head", part));
      return newMap(part, axes, size, named, act);
    });
    this.axes = axes;
    this.shape = { queries, keys };
    this.legend(this.titles[2]);
    this.show();
  },
  legend(title) {
    const line = element("span", { class: "legend", "aria-hidden": "true" });
    title.after(line);
    element("span", "", line, "−1");
    this.bar = make("image", { width: "100%", height: "100%", preserveAspectRatio: "none" }, make("svg", { width: 5 * rem(), height: 0.6 * rem() }, line));
    element("span", "", line, "1");
  },
  show() {
    const { message, at, count } = this, found = message.order[at], [one, other] = [message.kinds[found.kind], message.kinds[count + found.kind]];
    this.buttons.forEach((node, i) => { node.setAttribute("aria-checked", String(i === at)); node.tabIndex = i === at ? 0 : -1; });
    // "disabled" would take the focus from the button that was just used
    [this.previous, this.next].forEach((node, i) => node.setAttribute("aria-disabled", String(at === (i ? message.order.length - 1 : 0))));
    const [layer, head] = found.partner ?? [0, 0];
    const values = [ofHead(one, layer, head), ofHead(other, found.layer, found.head)].map((weights) => Float32Array.from(weights, (weight) => weight / message.levels));
    values.push(values[1].map((weight, i) => weight - values[0][i]));
    this.values = values;
    this.masks = [maskOf(one, layer, head), maskOf(other, found.layer, found.head)];
    const [before, after] = [(i) => !found.partner || !this.masks[0][i], (i) => !this.masks[1][i]];
    const both = (i) => !found.partner || (before(i) && after(i));
    const { queries, keys } = this.shape, hue = colors(this.scales[found.kind]), signedHues = colors(message.scale);
    const weightAt = (masked) => (value, i) => (masked(i) ? -1 : Math.round(255 * signedSqrt(value)));
    const pictures = [[hue, weightAt(before)], [hue, weightAt(after)], [signedHues, (value, i) => (both(i) ? -1 : Math.round(127.5 + 127.5 * signedSqrt(value)))]];
    const where = placeOf(found.layer, found.head);
    const left = found.partner ? placeOf(layer, head) : _("no matching head");
    const texts = [withLabel(message.names[0], left), withLabel(message.names[1], where), this.narrow ? _("Second map − first") : _("Middle map − left")];
    this.bar.setAttribute("href", painted(Float32Array.from({ length: 81 }, (unused, i) => i / 40 - 1), 1, 81, signedHues, (value) => Math.round(127.5 + 127.5 * signedSqrt(value))));
    pictures.forEach(([table, place], which) => {
      this.drawn[which].paint(painted(values[which], queries, keys, table, place), `${other.title}. ${texts[which]}`);
      this.titles[which].textContent = texts[which];
    });
    this.says.textContent = _("Rank {number} of {count} by change. {kind}, {place}: {change}.", { number: at + 1, count: message.order.length, kind: other.title, place: where, change: changeOf(found) });
    this.point();
  },
  hint() {
    const grey = this.masks.some((mask) => mask.includes(0));
    if (byTouch()) return grey ? _("Tap a cell for its weights. Rows attend to columns; grey is masked.") : _("Tap a cell for its weights. Rows attend to columns.");
    return grey ? _("Point at a cell for its weights. Rows attend to columns; grey is masked.") : _("Point at a cell for its weights. Rows attend to columns.");
  },
  point() {
    const { cell, values } = this;
    this.drawn.forEach((map) => map.mark(cell));
    if (!cell) { this.pointed.textContent = this.hint(); return; }
    const i = cell.q * this.shape.keys + cell.k, digits = this.message.levels > 255 ? 2 : 1;
    const [before, after, difference] = values.map((each) => fixed(each[i], digits)), pair = this.message.order[this.at].partner;
    const tokens = { query: this.axes.rows[cell.q], key: this.axes.columns[cell.k] };
    const isMasked = this.masks.slice(pair ? 0 : 1).every((mask) => !mask[i]);
    const numbers = pair ? _("{before}, then {after}; difference {difference}", { before, after, difference }) : after;
    this.pointed.textContent = isMasked
      ? _("“{query}” may not attend to “{key}” (masked)", tokens)
      : _("“{query}” attends to “{key}”: {numbers}", { ...tokens, numbers });
  },
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), message = unpacked(data);
  const view = (root.headlight ??= Object.assign(Object.create(changes), { root }));
  view.send = (chosen) => setTriggerValue("chosen", chosen);
  if (view.message?.id !== message.id || !root.childElementCount) view.start(message);
  const dark = isDark();
  if (view.dark !== undefined && view.dark !== dark) view.show();
  view.dark = dark;
  onNewColors(() => { if (view.box.isConnected && isDark() !== view.dark) { view.dark = isDark(); view.show(); } });
  const watcher = watchSize(view.box, () => { if (Math.abs(view.box.clientWidth - view.width) > 1 || (!view.narrow && view.box.clientHeight !== view.high)) view.arrange(); });
  return () => watcher.disconnect();
}
