// The canvas: tokens, arcs between them, and all heads beside them. See app/components/canvas/__init__.py.
//
// All state is one object, `view`. `build` makes the parts, `arrange` places them (again for another message, kind,
// form or size), and `update` shows what is chosen, pinned and pointed at; nothing else draws.

import { build } from "./build.js";
import { ask, receiveAnswer, sendNext } from "./numbers.js";
import { drawArcs, newArcs } from "./arcs.js";
import { newHeads, paintHeads, showHeads } from "./heads.js";
import { newMatrix, showMatrix } from "./matrix.js";
import { newTokens, runnerTexts, showTokens } from "./tokens.js";
import { focusPinned, receivePins, isPinned, keep } from "./pins.js";
import { placed } from "./place.js";
import { showCell, showFacts } from "./panel.js";
import { showTools } from "./tools.js";
import { alternativeText, sentence } from "./words.js";
import { isNew, stopWriting, writeItself } from "./writing.js";
import { writeInAddress } from "../shared/address.js";
import { element, focusedIn } from "../shared/dom.js";
import { forTouch } from "../shared/hints.js";
import { _ } from "../shared/language.js";
import { isNewSession } from "../shared/numbered_choices.js";
import { isDark } from "../shared/themed.js";
import { measurer, withFont } from "../shared/svg.js";
import { rem, watchSize } from "../shared/watch_size.js";
import { forgetMissing, sides, unpacked } from "./message.js";

const NARROW = 40;  // rem

// Places everything for the message, the kind, the form and the size of the window.
function arrange(view) {
  const { root, stage, message, here, state } = view;
  view.isArranging = true;  // replacing a token that has the focus sends a focusout event, which must not draw
  view.rem = rem();
  const narrow = root.clientWidth < NARROW * view.rem;
  root.classList.toggle("narrow", narrow);
  const lecture = parseFloat(getComputedStyle(root).getPropertyValue("--lecture-below")), below = lecture || state.below;
  view.whole = lecture > 0;  // nothing scrolls in front of a class
  root.classList.toggle("whole", view.whole);
  const high = Math.max(24 * view.rem, Math.min(window.innerHeight - topOf(root) - below * view.rem, 44 * view.rem));
  root.style.height = narrow ? "" : `${Math.floor(high)}px`;
  view.both = sides(message, here.kind);
  const matrix = view.form === "matrix";
  view.instead.hidden = matrix || !narrow || !view.both.writes;  // first hide or show all that takes room, then measure
  stage.arcs.hidden = matrix;
  stage.matrix.hidden = !matrix;
  stage.frame.classList.toggle("of-matrix", matrix);
  stage.frame.classList.toggle("downwards", narrow && !matrix);
  stage.frame.classList.toggle("sideways", !narrow && !matrix);
  stage.arcs.classList.toggle("picture", !matrix);  // `picture` marks what is saved, see ../save_picture
  stage.matrix.classList.toggle("picture", matrix);
  view.measure = measurer(root);
  view.probabilities = [];
  view.size = sizeOf(view);
  const height = narrow ? 21 * view.rem : stage.frame.clientHeight - 2;
  view.room = { width: stage.frame.clientWidth, height };
  view.layout = placed(view.both, { under: runnerTexts(view), width: view.room.width, height: height - (narrow ? 0 : 0.9 * view.rem), rem: view.rem, narrow, whole: view.whole, measure: view.measure });
  stage.arcs.style.cssText = `width:${view.layout.width}px;height:${view.layout.height}px`;
  const { label } = view.both.keys, count = view.both.keys.tokens.length;
  const all = ({ tokens, label: usual, brief }, boxes) => {
    const text = view.layout.severalRows && brief ? brief : usual, [shown, count] = [boxes.length, tokens.length];
    return shown < count ? _("{label}. The first {shown} of {count} tokens", { label: text, shown, count }) : text;
  };
  stage.labels[0].textContent = view.layout.scrolls ? _("{label}. {count} tokens: scroll sideways", { label, count }) : all(view.both.keys, view.layout.keys);
  const clicks = view.both.writes && state.acts && !view.layout.severalRows ? forTouch(_(": click one, and decoding continues with it")) : "";
  stage.labels[1].textContent = view.layout.flat || !view.both.writes ? all(view.both.queries, view.layout.queries) : view.message.target.title;
  const hasRoom = !view.whole || view.measure(stage.labels[1].textContent + clicks, 0.875 * view.rem) < view.layout.width;
  if (view.layout.flat && hasRoom) element("span", { "data-unsaved": "" }, stage.labels[1], clicks);
  root.style.setProperty("--kind", message.kind[here.kind].color);
  root.style.setProperty("--encoder", message.colors.encoder);
  root.style.setProperty("--decoder", message.colors.decoder);
  newArcs(view);
  newTokens(view);
  newMatrix(view);
  view.heads.room = narrow ? Infinity : root.clientHeight - 11.5 * view.rem;
  newHeads(view);
  view.dark = isDark();
  showTools(view);
  view.isArranging = false;
}

const forms = (window.headlightForms ??= {});  // by name in the address (`formName`): the form chosen last, as "matrix"

// The distance of the picture from the top of the page, however far the page is scrolled.
const topOf = (root) => root.getBoundingClientRect().top + (root.getRootNode().host?.closest("[data-testid=stMain]")?.scrollTop ?? 0);
const sizeOf = (view) => `${view.root.clientWidth} ${window.innerHeight} ${rem()} ${view.whole ? topOf(view.root) : ""}`;

function newView(parentElement) {
  const root = parentElement.querySelector(".root");
  const view = {
    root, here: null, last: {}, preview: null, point: null, pins: { query: null, key: null }, cell: null,
    form: "arcs", answers: new Map(), questions: [], asked: null, written: Infinity, sentence: "",
  };
  view.update = () => {
    if (view.isArranging) return;
    const here = { ...view.here, ...view.preview }, focus = view.point ?? view.pins;
    if (view.dark !== isDark()) { view.dark = isDark(); paintHeads(view); }
    ask(view, { asks: "head", ...here });
    view.sentence = view.isWriting ? _("The decoder writes one token after the other.") : sentence(view, here, focus);
    if (view.say.textContent !== view.sentence) view.say.textContent = view.sentence;
    if (view.form === "matrix") showMatrix(view, here, focus);
    else { drawArcs(view, here, focus); showTokens(view, here, focus); }
    showHeads(view, here);
    showFacts(view, here);
    showCell(view);
    view.alt.textContent = alternativeText(view, here);
  };
  view.again = () => { arrange(view); view.update(); };
  view.pointAt = (cell) => { view.point = cell; view.update(); };
  view.togglePin = (side, index) => {
    view.pins[side] = view.pins[side] === index ? null : index;
    view.cell = null;
    view.update();
    keep(view);
  };
  view.unpin = () => { view.pins = { query: null, key: null }; view.cell = null; view.update(); keep(view); };
  view.open = (cell) => {
    const hadFocus = focusedIn(view.computed);
    view.cell = view.state.alone ? null : cell;
    if (cell) { view.pins = { ...cell }; view.focusCell = true; }
    view.update();
    if (hadFocus && !view.cell) focusPinned(view);
    keep(view);
  };
  view.openAt = (side, index) => {
    const focus = view.point ?? view.pins;
    view.open(side === "key" ? { query: focus.query, key: index } : { query: index, key: focus.key });
  };
  view.previewHead = (head) => { view.preview = head; view.update(); };
  view.chooseHead = (head, kind = view.here.kind) => {
    const other = kind !== view.here.kind;
    view.here = { kind, layer: head.layer, head: head.head };
    view.last[kind] = head;
    Object.assign(view, { preview: null, point: null });
    const letsGo = other && isPinned(view);
    if (other) { view.pins = { query: null, key: null }; view.cell = null; arrange(view); }
    view.update();
    writeInAddress({ kind, layer: head.layer + 1, head: head.head + 1 });
    if (letsGo) keep(view);
    view.number = Math.max((view.number ?? 0) + 1, Date.now());
    view.send("chosen", { ...view.here, number: view.number });
  };
  // An act may leave the page. So it drops the questions that are not yet sent, and is sent itself only after the pins
  // have been sent and the question that was sent last is answered or lost.
  view.act = (name, step, index) => {
    Object.assign(view, { questions: [], isActing: true });
    if (view.asked || view.unsentPins) { setTimeout(() => view.act(name, step, index), 50); return; }
    view.isActing = false;
    view.send("acted", { name, step, index, ...view.here });
  };
  view.show = (form) => {
    view.form = forms[view.state.formName] = form;
    view.again();
    writeInAddress({ [view.state.formName]: form });
    keep(view);
  };
  view.write = () => { if (view.form !== "arcs") view.show("arcs"); writeItself(view); };
  view.skip = () => { if (view.isWriting) { stopWriting(view); view.update(); } };
  build(view);
  return view;
}

// Takes over what the server says is chosen, unless a newer choice of this browser is on its way to the server.
function receiveState(view, serverState) {
  view.state = serverState;
  view.form = forms[serverState.formName] ?? serverState.form;
  if (view.isWriting && !serverState.writes) stopWriting(view);
  view.surroundings = JSON.stringify([serverState.acts, serverState.alternatives, serverState.shown, serverState.canUndo, serverState.writes, serverState.below, serverState.form]);
  if (isNewSession(view, serverState.received)) view.number = 0;
  const received = !view.number || serverState.received >= view.number;
  if (!received && view.here) return;
  const { kind, layer, head } = serverState.chosen;
  view.here = { kind, layer, head };
  view.last[kind] = { layer, head };
}

// Starts with a new message. Trap: it may have the same words but other numbers, for example when the page replaces the
// stored first picture or when a model is edited. An open calculation then stays open
// (test_a_calculation_stays_open_when_the_numbers_of_the_same_words_change).
function begin(view, isSameKind) {
  const { source, target } = view.message, words = JSON.stringify([source.tokens, target.tokens]);
  if (view.words !== words || !isSameKind) view.cell = null;
  if (view.words !== words) { receivePins(view); view.hasPins = Boolean(view.state.pinned); view.words = words; }
  Object.assign(view, { unsentPins: null, point: null, preview: null, answers: new Map(), questions: [], asked: null });
  stopWriting(view);
  const can = view.state.writes && view.form === "arcs" && view.here.kind !== "encoder" && !isPinned(view);
  const writes = isNew(view.message) && can;
  if (writes) view.written = 0;  // no token is seen before it is written
  arrange(view);
  if (writes) writeItself(view); else view.update();
}

// What holds until the channel brings the state of the server. In a state with `alone` (see
// ../class_page/class_canvas.js) no server answers: no calculation can be opened, and a weight is written as a number
// only if all weights that are sent as its byte round to the same number.
const OPENED = { received: -1, acts: false, alternatives: [], shown: 0, canUndo: false, writes: false, below: 3, form: "arcs", formName: "translate_form" };

export default function ({ data, parentElement, setTriggerValue }) {
  const view = (parentElement.headlightView ??= newView(parentElement));
  view.send = setTriggerValue;
  const message = unpacked(data);
  const all = (window.headlightCanvases ??= new Map());
  if (!all.has(message.id)) all.set(message.id, {});
  view.line = all.get(message.id);
  const start = () => {
    if (view.message?.id === message.id) return;
    view.message = message;
    const [first] = message.kinds, [layer, head] = first.opening;
    const kind = view.here?.kind;
    const opening = { kind: first.name, layer, head };
    receiveState(view, view.line.state ?? { ...OPENED, chosen: opening });
    forgetMissing(view, opening);
    begin(view, kind === view.here.kind);
  };
  const received = (serverState) => {
    start();
    const { here, surroundings } = view;
    receiveState(view, serverState);
    const late = !view.hasPins && Boolean(serverState.pinned);  // the channel came after the picture
    if (late) { view.hasPins = true; if (!isPinned(view)) receivePins(view); }
    const given = view.pinsGiven !== undefined && serverState.pinsGiven !== view.pinsGiven;  // the server pinned other words
    view.pinsGiven = serverState.pinsGiven;
    if (given || here.kind !== view.here.kind) receivePins(view);  // pins are those of one kind of attention
    const news = receiveAnswer(view, serverState.answer) || late || given;
    if (here.kind !== view.here.kind || surroundings !== view.surroundings) view.again();
    else if (news || here.layer !== view.here.layer || here.head !== view.here.head) view.update();
    sendNext(view);
  };
  const { line } = view;
  withFont(view.root, () => {
    if (line !== view.line) return;  // another message has come since
    line.received = received;
    if (line.state) received(line.state);
    else setTimeout(() => { if (line === view.line) start(); }, 250);  // the channel is late, or there is none
  });
  const resized = () => { if (view.message && view.root.clientWidth && view.size !== sizeOf(view)) view.again(); };
  const watcher = watchSize(view.root, resized);
  window.addEventListener("resize", resized);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  // Draws again after Streamlit has set its own colours.
  const recoloured = () => setTimeout(() => { if (view.message) view.update(); }, 300);
  scheme.addEventListener("change", recoloured);
  window.addEventListener("afterprint", recoloured);  // Streamlit chooses its colours again, see ../lecture/scheme.js
  return () => {
    if (line.received === received) line.received = null;
    const isUsed = line.state || (line === view.line && view.root.isConnected);  // by the channel, or by a later call
    if (!isUsed && all.get(message.id) === line) all.delete(message.id);
    watcher.disconnect();
    window.removeEventListener("resize", resized);
    window.removeEventListener("afterprint", recoloured);
    scheme.removeEventListener("change", recoloured);
  };
}
