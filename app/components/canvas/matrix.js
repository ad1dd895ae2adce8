// The head as a matrix: rows are queries, columns are keys. The mouse or the arrow keys point at a cell; a click, Enter
// or Space opens its calculation. Numbers are written into the cells when the exact weights have arrived. A matrix that
// is larger than its place scrolls. In a lecture its cells are smaller, so that all of it fits the window, and some
// names are left out.

import { cellByKey } from "../shared/arrow_keys.js";
import { element, focusedIn, handled } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { exactOf } from "./numbers.js";
import { percent } from "../shared/numbers.js";
import { cellUnder } from "../shared/svg.js";
import { maskOf, ofHead } from "./message.js";
import { isPinned } from "./pins.js";
import { inWords } from "../shared/token.js";
import { resolved } from "../shared/themed.js";

const MIN_CELL = 1.35, MIN_CELL_OF_LECTURE = 0.3;  // rem, of the side of a cell
const MIN_HEIGHT = 1.1;  // rem, of a cell where a mouse points at it
const MIN_FONT = 0.8;  // rem, of the type of a name

export function newMatrix(view) {
  const { stage, both, rem, room } = view, kind = view.message.kind[view.here.kind], measure = view.measure;
  const { keys, queries } = both, narrow = !view.layout.flat, rowPairs = !narrow && queries.names;
  const rowAxis = rowPairs ? `${keys.axis} → ${queries.axis}` : queries.axis;
  const axes = narrow ? [`${keys.axis} →`, `${queries.axis} ↓`] : [_("Columns: {axis}", { axis: keys.axis }), _("Rows: {axis}", { axis: rowAxis })];
  const rowTexts = rowPairs || queries.tokens.map(inWords);
  const widest = Math.max(...rowTexts.map((name) => measure(name, rem)), ...axes.map((axis) => measure(axis, 0.875 * rem)));
  const nameWidth = Math.min(widest + rem, (rowPairs ? 13 : 9) * rem);
  const nameHeight = Math.min(Math.max(...both.keys.tokens.map((token) => measure(inWords(token), rem))) * 0.8 + 1.6 * rem, 7 * rem);
  const least = (view.whole ? MIN_CELL_OF_LECTURE : MIN_CELL) * rem, lowest = view.whole || narrow ? least : MIN_HEIGHT * rem;
  const wide = Math.max(Math.min((room.width - nameWidth - 2 * rem) / kind.keys, 4.2 * rem), least);
  const tall = Math.max(Math.min((room.height - nameHeight - rem) / kind.queries, 2.6 * rem), lowest);
  view.cells = { wide, tall };
  const box = stage.matrix, hadFocus = Boolean(focusedIn(box));
  box.replaceChildren();
  box.style.gridTemplate = `${nameHeight}px ${tall * kind.queries}px / ${nameWidth}px ${wide * kind.keys}px`;
  const [columns, rows, inside] = ["columns", "rows", "cells"].map((name) => element("div", name, box));
  const corner = element("div", "axes", box);
  axes.forEach((axis) => element("div", "axis", corner, axis));
  view.cells.rowNames = rowTexts.map((text, q) => {
    const name = element("div", `name row ${both.queries.role}`, rows, text);
    name.style.cssText = `top:${q * tall}px;width:${nameWidth - 0.5 * rem}px;height:${tall}px;line-height:${tall}px`;
    return name;
  });
  view.cells.columnNames = both.keys.tokens.map((token, k) => {
    const name = element("div", `name column ${both.keys.role}`, columns, inWords(token));
    name.style.left = `${(k + 0.5) * wide}px`;
    return name;
  });
  thinOut(view.cells.rowNames, tall, rem);
  thinOut(view.cells.columnNames, wide, rem);
  const canvas = element("canvas", { class: "grid", tabindex: 0, role: "application", "aria-roledescription": _("matrix") }, inside), frame = element("div", "frame", inside);
  canvas.style.cssText = `width:${wide * kind.keys}px;height:${tall * kind.queries}px`;
  Object.assign(view.cells, { canvas, frame });
  const pointOf = (cell) => cell && { query: cell[0], key: cell[1] };
  const cellOf = (event) => pointOf(cellUnder(event, canvas, kind.queries, kind.keys));
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellOf(event);
    if (cell?.query !== view.point?.query || cell?.key !== view.point?.key) view.pointAt(cell);
  });
  canvas.addEventListener("pointerleave", () => view.pointAt(null));
  canvas.addEventListener("click", (event) => { const cell = cellOf(event); if (cell) view.open(cell); });
  const current = () => view.point ?? { query: view.pins.query ?? 0, key: view.pins.key ?? 0 };
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) view.pointAt(current()); });
  canvas.addEventListener("blur", () => view.pointAt(null));
  canvas.addEventListener("keydown", (event) => {
    const now = current(), cell = cellByKey(event, [now.query, now.key], kind.queries, kind.keys);
    if (cell) { view.pointAt(pointOf(cell)); frame.scrollIntoView({ block: "nearest", inline: "nearest" }); }
    else if (event.key === "Escape" && !view.cell && isPinned(view)) { handled(event); view.unpin(); }
    else if (event.key === "Enter" || event.key === " ") { handled(event); view.open(now); }
  });
  if (hadFocus) canvas.focus({ preventScroll: true });
}

// Names that are `pitch` px apart: smaller where they would touch; if that is not enough, only every n-th is shown.
function thinOut(names, pitch, rem) {
  const size = Math.min(1, Math.max(MIN_FONT, (0.92 * pitch) / rem)), every = Math.ceil((0.92 * size * rem) / pitch);
  names.forEach((name, i) => {
    name.style.fontSize = `${size}rem`;
    name.classList.toggle("left-out", i % every !== 0);
  });
}

export function showMatrix(view, here, focus) {
  const kind = view.message.kind[here.kind], { canvas, frame, wide, tall, rowNames, columnNames } = view.cells;
  const weights = ofHead(kind, here.layer, here.head), exact = exactOf(view, here.kind, here.layer, here.head);
  const mask = maskOf(kind, here.layer, here.head);
  const dense = window.devicePixelRatio || 1, context = canvas.getContext("2d"), styles = getComputedStyle(view.root);
  canvas.width = Math.round(wide * kind.keys * dense);
  canvas.height = Math.round(tall * kind.queries * dense);
  context.scale(dense, dense);
  context.textAlign = "center";
  const size = Math.min(0.95 * view.rem, tall * 0.55, wide * 0.42);
  context.font = `${size}px ${styles.fontFamily}`;
  const color = resolved(kind.color), ground = styles.getPropertyValue("--st-background-color"), ink = styles.color;
  for (let q = 0; q < Math.min(kind.queries, view.written); q++) {
    for (let k = 0; k < kind.keys; k++) {
      const byte = weights[q * kind.keys + k], [x, y] = [k * wide, q * tall];
      context.globalAlpha = mask[q * kind.keys + k] ? 0.07 + 0.93 * (byte / 255) : 0.28;
      context.fillStyle = mask[q * kind.keys + k] ? color : "#808896";
      context.fillRect(x + 0.5, y + 0.5, wide - 1, tall - 1);
      if (size < 0.8 * view.rem || !exact || byte < 2) continue;
      context.globalAlpha = 1;
      context.fillStyle = byte > 120 ? ground : ink;
      const text = percent(exact[q * kind.keys + k], 0, 0);  // a cell has room for four characters
      context.fillText(text, x + wide / 2, y + tall / 2 + size * 0.36);
    }
  }
  context.globalAlpha = 1;
  rowNames.forEach((name, q) => name.classList.toggle("on", focus.query === q));
  columnNames.forEach((name, k) => name.classList.toggle("on", focus.key === k));
  const [left, width] = focus.key === null ? [0, kind.keys] : [focus.key, 1], [top, height] = focus.query === null ? [0, kind.queries] : [focus.query, 1];
  frame.hidden = focus.key === null && focus.query === null;
  frame.style.cssText = `left:${left * wide}px;top:${top * tall}px;width:${width * wide}px;height:${height * tall}px`;
  const values = { kind: kind.title, layer: here.layer + 1, head: here.head + 1, sentence: view.sentence };
  canvas.setAttribute("aria-label", _("{kind}, layer {layer}, head {head}, as a matrix. {sentence}", values));
}
