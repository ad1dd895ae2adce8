// What the translation loses by each change of the positions. In the first row a word is chosen, and each bar is a swap
// with another word; the other rows have a bar for each change. A click on a bar makes the change, a second click
// undoes it.

import { isOfBrowser } from "../shared/arrow_keys.js";
import { element, focusedIn, handled, within } from "../shared/dom.js";
import { forTouch } from "../shared/hints.js";
import { _, withLabel } from "../shared/language.js";
import { fixed } from "../shared/numbers.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { centred } from "../shared/radios.js";
import { shades } from "../shared/shades.js";
import { inWords, put } from "../shared/token.js";

const NOTHING = -1;

function nats(lost) {
  if (lost === null) return _("not measured for a sentence of this length");
  const amount = fixed(Math.abs(lost), 2);
  return lost < 0 ? _("the translation gains {nats} nats", { nats: amount }) : _("the translation loses {nats} nats", { nats: amount });
}

// What a reader can do.
function hint({ measured, farthest }, isChanged) {
  if (isChanged) return _("Click the marked bar again to take the change back.");
  if (!measured) return _("Too long to measure what each change costs. Click one to see what it does.");
  const text = _("In nats of log-probability. Click a word, then a bar.");
  return farthest === null ? text : text + " " + _("Measured: swaps up to {count} places apart.", { count: farthest });
}

// Arrow keys, Home and End move the focus within a row of buttons; Tab reaches one of them.
function withArrowKeys(row, nodes, start) {
  nodes.forEach((node, i) => { node.tabIndex = i === start ? 0 : -1; });
  row.addEventListener("keydown", (event) => {
    const at = nodes.indexOf(event.target), step = { ArrowRight: 1, ArrowLeft: -1, Home: -at, End: nodes.length }[event.key];
    if (step === undefined || at < 0 || isOfBrowser(event)) return;
    handled(event);
    nodes[at].tabIndex = -1;
    const next = nodes[within(at + step, 0, nodes.length - 1)];
    next.tabIndex = 0;
    next.focus();
  });
}

// The two tokens of a swap, by its number; undefined for another change.
const pairOf = (number, size) => (number >= 0 && number < size * size ? [number % size, Math.floor(number / size)] : undefined);

function bar(parent, { name, lost, isOn, isFramed, act, describe }, data, color) {
  const node = element("button", { class: `change${isFramed ? " framed" : ""}`, "aria-pressed": isOn, "aria-label": withLabel(name, nats(lost)) }, parent);
  element("span", "value", node, lost === null ? "?" : fixed(lost, 1));
  const fill = element("i", "bar", node), share = lost === null ? 0 : within(lost / data.largest, -1, 1);
  fill.style.setProperty("--share", Math.abs(share));
  fill.style.background = color(0.5 - 0.5 * share).fill;
  node.addEventListener("click", act);
  for (const kind of ["pointerenter", "focus"]) node.addEventListener(kind, () => describe(`${withLabel(name, nats(lost))}.`));
  return node;
}

function drawn(root, state, report) {
  const { data } = state, size = data.tokens.length, color = shades(data.scale);
  const on = currentChoice(root, "change", { chosen: data.chosen, count: size * size + data.count, received: data.received });
  const swapped = pairOf(on, size) ?? data.striking;
  const first = state.first ?? swapped[0];
  const choose = (index) => { report(index); draw(); };
  const draw = () => drawn(root, state, report);
  const focused = focusedIn(root), focus = focused?.dataset.at;
  const left = [...root.querySelectorAll(".row")].map((row) => row.scrollLeft);
  const frame = element("div", { class: "frame", role: "group", "aria-label": data.alt });
  const description = element("p", "description"), describe = (text) => { description.textContent = text; };

  element("h3", "", frame, _("Swap the position of “{word}” with that of …", { word: inWords(data.tokens[first]) }));
  const words = element("div", { class: "row words", role: "radiogroup", "aria-label": _("The word whose position is swapped") }, frame);
  const bars = [], chips = [];
  data.tokens.forEach((token, other) => {
    const column = element("div", "column", words), pair = [first, other].sort((a, b) => a - b);
    const number = pair[0] + pair[1] * size;
    if (other === first) element("span", "change none", column);
    else {
      const name = _("“{one}” with “{other}”", { one: inWords(data.tokens[first]), other: inWords(token) });
      const isFramed = String(pair) === String(data.striking);
      bars.push(bar(column, { name, lost: data.swaps[first][other], isOn: on === number, isFramed, act: () => choose(number), describe }, data, color));
      bars.at(-1).dataset.at = `swap ${other}`;
    }
    const chip = element("button", { class: "word", role: "radio", "aria-checked": other === first, "aria-label": _("Swap {word}, token {number}", { word: inWords(token), number: other + 1 }), "data-at": `word ${other}` }, column);
    put(chip, token);
    chip.addEventListener("click", () => { state.first = other; draw(); });
    chips.push(chip);
  });
  withArrowKeys(words, chips, first);
  withArrowKeys(words, bars, 0);

  let number = size * size;
  const groups = element("div", "groups", frame);
  for (const { title, changes } of data.groups) {
    const box = element("div", "box", groups);
    element("h3", "", box, title);
    const row = element("div", "row", box), nodes = [];
    for (const { label, name, lost } of changes) {
      const column = element("div", "column", row), mine = number;
      nodes.push(bar(column, { name, lost, isOn: on === mine, isFramed: false, act: () => choose(mine), describe }, data, color));
      nodes.at(-1).dataset.at = `change ${mine}`;
      element("span", "label", column, label);
      number += 1;
    }
    withArrowKeys(row, nodes, 0);
  }
  describe(forTouch(hint(data, on !== NOTHING)));
  root.replaceChildren(frame, description);
  root.querySelectorAll(".row").forEach((row, i) => { row.scrollLeft = left[i] ?? 0; });
  if (focus) root.querySelector(`[data-at="${focus}"]`)?.focus({ preventScroll: true });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), state = (root.headlight ??= {});
  const words = data.tokens.join("\n");
  const isOther = state.words !== words;
  const made = pairOf(data.chosen, data.tokens.length);
  if (isOther || (data.chosen !== state.chosen && !made?.includes(state.first))) state.first = undefined;
  Object.assign(state, { data, words, chosen: data.chosen });
  root.style.setProperty("--role", data.color);
  drawn(root, state, (index) => setTriggerValue("chosen", numbered(root, "change", index)));
  const column = root.querySelector(".words :is([aria-pressed='true'], .framed)")?.parentElement;
  if (isOther && column) centred(root.querySelector(".words"), column);
}
