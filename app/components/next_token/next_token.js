// How the next token is chosen: source and written tokens go in, the decoder gives a distribution, the chosen token
// goes in again. The held data have all steps, so stepping and playing need no server. The server only learns at which
// step the reader stops, and which other token the reader chooses.

import { USES_ARROW_KEYS } from "../shared/arrow_keys.js";
import { focusedIn, setColors, within } from "../shared/dom.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { rem, watchSize } from "../shared/watch_size.js";
import { build } from "./frame.js";
import { chosenPlace, animateToken, pass } from "./motion.js";
import { drawPaths } from "./paths.js";
import { show } from "./show.js";

const NARROW = 40;  // rem: a phone
const PACE = 1300;  // ms at each step while it plays
const STOPPED = 700;  // ms without another step: the reader has stopped here

// Gives a part the height of its longest text, so that nothing below it moves when its text changes.
function reserve(part, texts) {
  const shown = part.textContent;
  part.style.minHeight = "";
  const heights = [...texts].map((text) => { part.textContent = text; return part.getBoundingClientRect().height; });
  part.textContent = shown;
  part.style.minHeight = `${Math.max(...heights)}px`;
}

class Loop {
  constructor(root, frame, at) {
    this.root = root;
    this.frame = frame;
    const [back, next, play] = [() => this.walk(this.at - 1), () => this.walk(this.at + 1), () => this.play(!this.timer)];
    this.parts = build(root, frame, { back, next, play, to: (step) => this.walk(step) });
    this.parts.chips.forEach((chip, n) => chip.addEventListener("click", () => this.walk(Math.max(n - 1, 0))));
    this.parts.rows.forEach((place) => place.row.addEventListener("click", () => {
      if (place.chosen) this.walk(this.at + 1);
      else this.other(place.id);
    }));
    this.fit();
    this.to(at);
  }

  get last() { return this.frame.steps.length - 1; }

  // Adapts to another width, for example when a phone is turned or the sidebar is opened.
  fit() {
    this.width = this.root.clientWidth;
    this.root.classList.toggle("narrow", this.width < NARROW * rem());
    for (const chips of [this.parts.sourceChips, this.parts.writtenChips]) {  // smaller where they do not fit
      chips.classList.remove("many");
      chips.classList.toggle("many", chips.scrollHeight > chips.clientHeight + 1);
    }
    const [columns, most] = this.root.classList.contains("narrow") ? [1, 4] : [2, 3];
    const lines = Math.ceil(this.frame.beams.rows / columns);
    this.parts.beamRows.style.height = `${1.5 * Math.min(lines, most)}rem`;
    this.parts.beamRows.tabIndex = lines > most ? 0 : -1;  // keys can scroll it
    const { beams, steps } = this.frame;
    reserve(this.parts.why, new Set(steps.map(({ why }) => why)));
    reserve(this.parts.beamsTitle, beams.end.rows.length ? [beams.title, beams.end.title] : [beams.title]);
    if (this.at !== undefined) this.to(this.at);
  }

  to(at) {
    const from = at === this.at + 1 ? chosenPlace(this.parts) : null, moved = this.at !== undefined && at !== this.at;
    this.at = at;
    show(this.parts, at);
    drawPaths(this.parts);
    if (moved) pass(this.parts.decoder);
    if (from) animateToken(this.parts, from, this.parts.chips[at]);
  }

  // The reader goes to a step.
  walk(at, playing = false) {
    if (!playing) this.play(false);
    at = within(at, 0, this.last);
    if (at === this.at) return;
    this.to(at);
    this.choice = numbered(this.root, "step", at);
    clearTimeout(this.stopped);
    if (!playing || at === this.last) this.stopped = setTimeout(() => this.report(), STOPPED);
  }

  report() {
    clearTimeout(this.stopped);
    if (this.choice && this.choice.index !== this.reported) this.send("chosen", this.choice);
    this.reported = this.choice?.index;
  }

  play(on) {
    if (on === Boolean(this.timer)) return;
    clearInterval(this.timer);
    this.timer = null;
    this.parts.player.showPlaying(on);
    if (!on) { this.stopped = setTimeout(() => this.report(), STOPPED); return; }
    if (this.at === this.last) this.walk(0, true);
    this.timer = setInterval(() => {
      this.walk(this.at + 1, true);
      if (this.at === this.last) this.play(false);
    }, PACE);
  }

  stop() {
    this.play(false);
    clearTimeout(this.stopped);
  }

  other(id) {
    this.stop();
    this.send("other", { step: this.at, id, number: Date.now() });
  }

  key(event) {
    const target = event.composedPath()[0];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || target?.closest?.(USES_ARROW_KEYS)) return;
    if (target === this.parts.sourceChips && target.scrollWidth > target.clientWidth + 1) return;  // the keys scroll it
    const inside = this.root.contains(target);
    const goal = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, ...(inside ? { Home: 0, End: this.last } : {}) }[event.key];
    if (goal === undefined || !this.root.isConnected) return;
    event.preventDefault();
    this.walk(goal);
  }
}

const buttonsOf = ({ player, chips, rows }) => ({ line: player.buttons, chips, rows: rows.map(({ row }) => row) });

// Which button has the focus: its part and its number in the part; undefined for none.
function focusedPlace(root, parts) {
  const node = focusedIn(root);
  return Object.entries(buttonsOf(parts)).map(([name, nodes]) => [name, nodes.indexOf(node)]).find(([, number]) => number >= 0);
}

// The translation that begins with another token may be shorter, and have fewer buttons; a row may be disabled.
function focusAgain(parts, [name, number]) {
  const found = [buttonsOf(parts)[name][number], parts.player.buttons.at(-1)].find((node) => node && !node.disabled);
  found.focus({ preventScroll: true });
}

// Shows what the server says once the data of its translation have arrived.
function take(root, state, send) {
  const frame = window.headlightHeld?.loop;
  if (frame?.scene !== state.scene) return;
  setColors(root, frame.colors);
  const written = JSON.stringify(frame);
  const at = currentChoice(root, "step", { chosen: state.step, count: frame.steps.length, received: state.received });
  let loop = root.headlightLoop;
  if (loop?.written !== written) {
    loop?.stop();
    const place = loop && focusedPlace(root, loop.parts);
    loop = root.headlightLoop = new Loop(root, frame, at);
    if (place) focusAgain(loop.parts, place);
    loop.written = written;
    loop.reported = state.step;
  } else if (!loop.timer && at !== loop.at) loop.to(at);
  if (at === state.step) loop.reported = state.step;
  loop.send = send;
}

export default function ({ data: state, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const arrive = () => take(root, state, setTriggerValue), onKey = (event) => root.headlightLoop?.key(event);
  document.addEventListener("headlight-held", arrive);
  document.addEventListener("keydown", onKey);
  const isOther = ({ width }) => Math.abs(root.clientWidth - width) > 1;
  const watcher = watchSize(root, () => { if (root.headlightLoop && isOther(root.headlightLoop)) root.headlightLoop.fit(); });
  arrive();
  return () => {
    document.removeEventListener("headlight-held", arrive);
    document.removeEventListener("keydown", onKey);
    watcher.disconnect();
    if (!root.isConnected) root.headlightLoop?.stop();
  };
}
