// The canvas: tokens, arcs between them, and all heads beside them. See app/components/canvas/__init__.py.
//
// All state is one object, `view`. `build` makes the parts, `arrange` places them (another message, kind, form or size), and
// `update` shows what is chosen, held and pointed at; nothing else draws.

import { build } from "./build.js";
import { ask, hear, sendNext } from "./numbers.js";
import { drawArcs, newArcs } from "./arcs.js";
import { newHeads, paintHeads, showHeads } from "./heads.js";
import { newMatrix, showMatrix } from "./matrix.js";
import { newTokens, showTokens } from "./tokens.js";
import { placed } from "./place.js";
import { showCell, showFacts } from "./panel.js";
import { showTools } from "./tools.js";
import { alternativeText, sentence } from "./words.js";
import { isNew, stopWriting, writeItself } from "./writing.js";
import { writeInAddress } from "../shared/address.js";
import { isDark } from "../shared/themed.js";
import { measurer } from "../shared/svg.js";
import { rem, watchSize } from "../shared/watch_size.js";
import { sides, unpacked } from "./message.js";

const NARROW = 40;  // rem

// Places everything for the message, the kind, the form and the size of the window.
function arrange(view) {
  const { root, stage, message, here, standing } = view;
  view.isArranging = true;  // a token that has the focus and is replaced tells that it has lost it
  view.rem = rem();
  const narrow = root.clientWidth < NARROW * view.rem, scroller = root.getRootNode().host?.closest("[data-testid=stMain]");
  root.classList.toggle("narrow", narrow);
  const top = root.getBoundingClientRect().top + (scroller?.scrollTop ?? 0);
  const high = Math.max(24 * view.rem, Math.min(window.innerHeight - top - standing.below * view.rem, 44 * view.rem));
  root.style.height = narrow ? "" : `${Math.floor(high)}px`;
  view.both = sides(message, here.kind);
  view.measure = measurer(root);
  view.probabilities = [];
  view.size = sizeOf(view);
  const height = narrow ? 21 * view.rem : stage.frame.clientHeight - 2;
  view.room = { width: stage.frame.clientWidth, height };
  view.layout = placed(view.both, { width: view.room.width, height: height - (narrow ? 0 : 0.9 * view.rem), rem: view.rem, narrow, measure: view.measure });
  stage.arcs.style.cssText = `width:${view.layout.width}px;height:${view.layout.height}px`;
  const scrolls = view.layout.scrolls ? `. ${view.both.queries.tokens.length} tokens: scroll sideways` : "";
  stage.labels[0].textContent = view.both.keys.label + scrolls;
  stage.labels[1].textContent = view.layout.flat ? view.both.queries.label : view.message.target.title;
  root.style.setProperty("--kind", message.kind[here.kind].color);
  root.style.setProperty("--encoder", message.colors.encoder);
  root.style.setProperty("--decoder", message.colors.decoder);
  newArcs(view);
  newTokens(view);
  newMatrix(view);
  const matrix = view.form === "matrix";
  stage.arcs.hidden = matrix;
  stage.matrix.hidden = !matrix;
  view.instead.hidden = matrix || view.layout.flat || !view.both.writes;
  stage.frame.classList.toggle("of-matrix", matrix);
  stage.frame.classList.toggle("downwards", narrow && !matrix);
  stage.frame.classList.toggle("sideways", !narrow && !matrix);
  stage.arcs.classList.toggle("picture", !matrix);  // what is saved, see ../save_picture
  stage.matrix.classList.toggle("picture", matrix);
  view.heads.room = narrow ? Infinity : root.clientHeight - 11.5 * view.rem;
  newHeads(view);
  view.dark = isDark();
  showTools(view);
  view.isArranging = false;
}

const forms = (window.headlightForms ??= {});  // that were chosen, by the form with which a page opens

const sizeOf = (view) => `${view.root.clientWidth} ${window.innerHeight} ${rem()}`;

function newView(parentElement) {
  const root = parentElement.querySelector(".root");
  const view = {
    root, here: null, last: {}, preview: null, point: null, pins: { query: null, key: null }, cell: null,
    form: "arcs", answers: new Map(), wanted: [], waits: null, written: Infinity, sentence: "",
  };
  view.update = () => {
    if (view.isArranging) return;
    const here = { ...view.here, ...view.preview }, focus = view.point ?? view.pins;
    if (view.dark !== isDark()) { view.dark = isDark(); paintHeads(view); }
    ask(view, { asks: "head", ...here });
    view.sentence = view.isWriting ? "The decoder writes one token after the other." : sentence(view, here, focus);
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
  view.hold = (side, index) => {
    view.pins[side] = view.pins[side] === index ? null : index;
    view.cell = null;
    view.update();
  };
  view.letGo = () => { view.pins = { query: null, key: null }; view.cell = null; view.update(); };
  view.open = (cell) => {
    view.cell = cell;
    if (cell) { view.pins = { ...cell }; view.focusCell = true; }
    view.update();
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
    if (other) { view.pins = { query: null, key: null }; view.cell = null; arrange(view); }
    view.update();
    writeInAddress({ kind, layer: head.layer + 1, head: head.head + 1 });
    view.number = Math.max((view.number ?? 0) + 1, Date.now());
    view.send("chosen", { ...view.here, number: view.number });
  };
  view.act = (name, step, index) => {  // the page may be left: not before it has answered, and nothing more is asked of it
    view.wanted = [];
    if (view.waits) setTimeout(() => view.act(name, step, index), 50);
    else view.send("acted", { name, step, index, ...view.here });
  };
  view.show = (form) => { view.form = forms[view.standing.form] = form; view.again(); };
  view.write = () => { if (view.form !== "arcs") view.show("arcs"); writeItself(view); };
  view.skip = () => { if (view.isWriting) { stopWriting(view); view.update(); } };
  build(view);
  return view;
}

// What the server says is chosen, unless a newer choice of this browser is on its way to it.
function stand(view, told) {
  view.standing = told;
  view.form = forms[told.form] ?? told.form;
  if (view.isWriting && !told.writes) stopWriting(view);
  const { answer, ...rest } = told;
  view.told = rest;
  const heard = !view.number || told.heard >= view.number;
  if (!heard && view.here) return;
  const { kind, layer, head } = told.chosen;
  view.here = { kind, layer, head };
  view.last[kind] = { layer, head };
}

function begin(view) {
  view.pins = { query: null, key: null };
  Object.assign(view, { cell: null, point: null, preview: null, answers: new Map(), wanted: [], waits: null });
  stopWriting(view);
  arrange(view);
  const writes = view.standing.writes && view.form === "arcs" && view.here.kind !== "encoder";
  if (isNew(view.message) && writes) writeItself(view); else view.update();
}

const OPENED = { heard: 0, acts: false, alternatives: [], shown: 0, canUndo: false, writes: false, below: 3, form: "arcs" };

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
    stand(view, view.line.standing ?? { ...OPENED, chosen: { kind: first.name, layer, head } });
    begin(view);
  };
  view.line.heard = (told) => {
    start();
    const before = JSON.stringify([view.here, view.told]);
    stand(view, told);
    const news = hear(view, told.answer);
    if (before !== JSON.stringify([view.here, view.told])) view.again();
    else if (news) view.update();
    sendNext(view);
  };
  if (view.line.standing) view.line.heard(view.line.standing);
  else setTimeout(start, 250);  // the wire is late, or there is none
  const resized = () => { if (view.message && view.root.clientWidth && view.size !== sizeOf(view)) view.again(); };
  const watcher = watchSize(view.root, resized);
  window.addEventListener("resize", resized);
  return () => { watcher.disconnect(); window.removeEventListener("resize", resized); };
}
