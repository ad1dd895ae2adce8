// The walk: at the left the map with the token, at the right the station where the token is. Going on or choosing
// another token or head does not wait for the server. The choice is sent to it a moment later, for the address, the
// details, and the tensors that are needed next.

import { TYPED_IN } from "../shared/arrow_keys.js";
import { isNewSession } from "../shared/numbered_choices.js";
import { measurer } from "../shared/svg.js";
import { isDark, onNewColors } from "../shared/themed.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";
import { drawDims } from "./dims.js";
import { drawKeys } from "./keys.js";
import { drawMap, moveTo } from "./map.js";
import { labelled, markup } from "./markup.js";
import { drawCharacters, drawChosen, drawCandidates, drawTokens, drawShifted } from "./words.js";

const LATER = 250, EACH = 3000;  // ms: until a step is sent to the server; at each station while the walk plays
const OF_A_HEAD = ["head", "scores", "weights"];
const DRAWINGS = { characters: drawCharacters, token_ids: drawTokens, shifted: drawShifted, chosen: drawChosen, logits: drawCandidates,
  scores: drawKeys, mask: drawKeys, weights: drawKeys };

class Walk {
  constructor(root) {
    this.root = root;
    this.number = 0;
    this.parts = markup(root, this);
    this.measure = measurer(root);
    watchSize(root, () => this.show());
    const arrived = () => (root.isConnected ? this.arrive() : document.removeEventListener("headlight-held", arrived));
    document.addEventListener("headlight-held", arrived);
    const key = (event) => (root.isConnected ? this.key(event) : document.removeEventListener("keydown", key));
    document.addEventListener("keydown", key);
  }

  // Takes over what the server says, unless the browser has a newer choice that the server has not received yet.
  take(state, send) {
    this.send = send;
    const isNew = isNewSession(this, state.received);
    if (isNew || this.received?.scene !== state.scene) {  // a choice for another sentence is not valid for this one
      clearTimeout(this.reportTimer);
      this.number = 0;
    }
    this.received = state;
    this.number = Math.max(this.number, state.received);
    this.arrive();
  }

  arrive() {
    const data = window.headlightHeld?.walk, state = this.received;
    if (!data || !state || data.scene !== state.scene) return;
    this.data = data;
    const mine = this.number > state.received ? this.state : null;  // the choice stays until the server has received it
    this.state = { ...state, ...(mine ?? {}) };
    if (this.map?.map.label !== data.map.label || this.drawnMap !== JSON.stringify(data.map)) {
      this.drawnMap = JSON.stringify(data.map);
      this.map = drawMap(this.parts.map, data.map, data, {
        go: (box) => this.openBox(box), up: (box) => this.openBox(box), turn: (stack, layer) => this.turn(stack, layer) });
      this.shows = null;
    }
    if (this.shows !== this.toShow()) this.show();  // a needless `show` would replace a button under the pointer
  }

  // All that the picture depends on, except the size and the colours of the page.
  toShow() {
    const { scene, at, s, t, heads, detail } = this.state;
    return JSON.stringify([scene, at, s, t, heads, detail, this.data.stations.length, this.data.pictures[at]]);
  }

  get place() {
    const found = this.data.stations.findIndex(({ id }) => id === this.state.at);
    return found < 0 ? this.lastPlace ?? 0 : (this.lastPlace = found);
  }

  go(place) {
    const station = this.data.stations[place];
    if (station) this.visit(station.id, LATER);
  }

  visit(id, later = 0) {
    this.state.at = id;
    this.report(later);
    this.show(true);
  }

  follow(rows, row, focused) {
    if (rows === "encoder") Object.assign(this.state, { s: row, t: this.data.attending[row] });
    else this.state.t = row;
    this.report();
    this.show();
    if (focused) this.parts.frame.querySelector('.row[aria-checked="true"], .chip[aria-pressed="true"]')?.focus({ preventScroll: true });
  }

  // The head that is shown: the chosen head. If none is chosen: in cross-attention the head that attends most from the
  // followed step to the followed word, elsewhere the clearest head of this attention.
  headHere() {
    const { heads, at, s, t } = this.state, site = at.split(".").slice(0, 4).join(".");
    if (typeof heads === "number") return heads;
    if (!at.includes("cross_attention") || !this.data.tensors[`${site}.weights`]) return heads[site] ?? 0;
    const { values, shape: [count, rows, columns] } = this.data.tensors[`${site}.weights`];
    const weights = Array.from({ length: count }, (unused, head) => values[(head * rows + t) * columns + s]);
    return weights.indexOf(Math.max(...weights));
  }

  takeHead(head) {
    this.state.heads = head;
    this.report(0, [this.state.at, head]);
    this.show();
  }

  // Trap: `this.state` is another object after each answer of the server, but the switch is not always drawn again
  // then. So the switch must not keep the object (test_the_switch_of_the_detail_works_after_going_on_and_back).
  takeDetail(detail) {
    this.state.detail = detail;
    this.report();
    this.show();
  }

  // Opens, in the open layer, the first of the box's stations that is in the walk. If none of them is, opens the first
  // station of the box, and the server adds it to the walk.
  openBox(box) {
    const { stations, stack } = this.data.map.boxes[box], layer = this.layers()[stack];
    const names = stations.map((name) => name.replace("*", layer));
    this.visit(names.find((name) => this.data.stations.some(({ id }) => id === name)) ?? names[0]);
  }

  // Opens the same station in another layer of the stack. If the open station is not in a layer of this stack, opens
  // the weights of the self-attention of the chosen layer.
  turn(stack, layer) {
    const open = this.layers()[stack], count = this.data.map.layers.find((each) => each.stack === stack).count;
    const wanted = Math.min(Math.max(typeof layer === "object" ? open + layer.step : layer, 0), count - 1);
    const here = this.data.stations[this.place], own = here.id.startsWith(`${stack}.layers.`);
    const name = own ? here.id.replace(/\.layers\.\d+\./, `.layers.${wanted}.`) : `${stack}.layers.${wanted}.self_attention.weights`;
    this.visit(name);
  }

  layers() {
    const here = this.data.stations[this.place], { stack } = this.data.texts[here.text];
    this.open = { encoder: 0, decoder: 0, ...(this.open ?? {}) };
    if (here.layer !== null && stack in this.open) this.open[stack] = here.layer;
    for (const { stack: own, count } of this.data.map.layers) this.open[own] = Math.min(this.open[own], count - 1);
    return this.open;
  }

  report(later = 0, head = null) {
    const { at, s, t, detail } = this.state;
    this.number = Math.max(this.number + 1, Date.now());
    clearTimeout(this.reportTimer);
    this.reportTimer = setTimeout(() => this.send({ at, s, t, detail, head, number: this.number }), later);
  }

  play(on) {
    clearInterval(this.playing);
    this.playing = on ? setInterval(() => {
      if (!this.root.isConnected) return this.play(false);
      if (this.place + 1 < this.data.stations.length) this.go(this.place + 1);
      if (this.place + 1 >= this.data.stations.length) this.play(false);
    }, EACH) : undefined;
    if (on) this.go(this.place + 1 < this.data.stations.length ? this.place + 1 : 0);
    this.parts.player.showPlaying(Boolean(this.playing));
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], [from] = event.composedPath();
    if (!step || !this.data || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (from instanceof Element && from.closest(`${TYPED_IN}, [role=slider], [role=tablist], .choice, .heads`)) return;
    if (from instanceof Element && from.closest("[role=radio]") && !this.root.contains(from)) return;
    event.preventDefault();
    this.go(this.place + step);
  }

  show(moved = false) {
    if (!this.state || !this.root.clientWidth) return;
    const { data, state, parts } = this, place = this.place, here = data.stations[place];
    Object.assign(this, { shows: this.toShow(), dark: isDark() });
    if (here.id !== state.at) return parts.picture.classList.add("waits");  // a station that the server has yet to send
    const text = data.texts[here.text], picture = data.pictures[here.id], layers = this.layers();
    labelled(parts, { text, place, count: data.stations.length, layer: here.layer, state, headed: OF_A_HEAD.includes(text.shown_as) ? data.headCount : 0 }, this);
    const inBox = data.stations.filter((each) => each.box === here.box && each.layer === here.layer);
    const words = { encoder: data.source[state.s], decoder: text.name === "chosen" ? data.predicts[state.t] : data.target[state.t] };
    moveTo(this.map, { box: here.box, part: (inBox.indexOf(here) + 1) / inBox.length, stack: text.stack, layers, words, crossing: text.part === "cross_attention" }, this.measure);
    parts.picture.classList.toggle("waits", !picture);
    if (!picture) return;
    this.draw(text, picture);
    parts.picture.classList.remove("new");
    if (moved && parts.picture.offsetWidth) parts.picture.classList.add("new");  // reading the width in between restarts the animation
  }

  draw(text, picture) {
    const { data, state, parts } = this, ofSource = text.rows === "encoder", own = text.part !== "cross_attention";
    const draw = DRAWINGS[text.shown_as] ?? drawDims;
    const view = {
      ...parts, data, text, picture, measure: this.measure,
      unit: scaleOfPage(),
      tensor: picture.site ? data.tensors[picture.site] : null,
      head: this.headHere(),
      tokens: ofSource ? data.source : data.target,
      keys: !own || ofSource ? data.source : data.target,
      keyRole: !own || ofSource ? "encoder" : "decoder",
      followed: ofSource ? state.s : state.t,
      column: own ? null : state.s,
      follow: (row, focused) => this.follow(text.rows, row, focused),
    };
    const row = draw(view);
    if (!row) return;
    const { frame } = parts, low = row.at + 2 * row.high > frame.scrollTop + frame.clientHeight - 60, high = row.at < frame.scrollTop;
    if (low || high) frame.scrollTop = Math.max(row.at - frame.clientHeight / 3, 0);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const walk = (root.headlightWalk ??= new Walk(root));
  walk.take(data, (report) => setTriggerValue("reported", report));
  onNewColors(() => { if (walk.dark !== isDark()) walk.show(); });
}
