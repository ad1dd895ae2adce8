// The head as a matrix: rows are queries, columns are keys. A cell is pointed at or walked to with the arrow keys, and
// opened by a click or Enter. Numbers are written into the cells as soon as they are exact.

import { element, handled, within } from "../shared/dom.js";
import { exactOf } from "./numbers.js";
import { percent } from "../shared/numbers.js";
import { ofHead, plain } from "./message.js";
import { resolved } from "../shared/themed.js";

export function newMatrix(view) {
  const { stage, both, rem, room } = view, kind = view.message.kind[view.here.kind], measure = view.measure;
  const names = Math.min(Math.max(...both.queries.tokens.map((token) => measure(plain(token), rem))) + rem, 9 * rem);
  const above = Math.min(Math.max(...both.keys.tokens.map((token) => measure(plain(token), rem))) * 0.8 + 1.6 * rem, 7 * rem);
  const wide = Math.max(Math.min((room.width - names - 2 * rem) / kind.keys, 4.2 * rem), 1.35 * rem);
  const tall = Math.max(Math.min((room.height - above - rem) / kind.queries, 2.6 * rem), 1.35 * rem);
  view.cells = { wide, tall };
  const box = stage.matrix;
  box.replaceChildren();
  box.style.gridTemplate = `${above}px ${tall * kind.queries}px / ${names}px ${wide * kind.keys}px`;
  const [columns, rows, inside] = ["columns", "rows", "cells"].map((name) => element("div", name, box));
  view.cells.rows = both.queries.tokens.map((token, q) => {
    const name = element("div", `name row ${both.queries.role}`, rows, plain(token));
    name.style.cssText = `top:${q * tall}px;width:${names - 0.5 * rem}px;height:${tall}px;line-height:${tall}px`;
    return name;
  });
  view.cells.columns = both.keys.tokens.map((token, k) => {
    const name = element("div", `name column ${both.keys.role}`, columns, plain(token));
    name.style.left = `${(k + 0.5) * wide}px`;
    return name;
  });
  const canvas = element("canvas", { class: "grid", tabindex: 0, role: "application", "aria-roledescription": "matrix" }, inside), frame = element("div", "frame", inside);
  canvas.style.cssText = `width:${wide * kind.keys}px;height:${tall * kind.queries}px`;
  Object.assign(view.cells, { canvas, frame });
  const cellOf = (event) => {
    const place = canvas.getBoundingClientRect();
    const query = Math.floor(((event.clientY - place.top) / place.height) * kind.queries), key = Math.floor(((event.clientX - place.left) / place.width) * kind.keys);
    return query >= 0 && key >= 0 && query < kind.queries && key < kind.keys ? { query, key } : null;
  };
  canvas.addEventListener("pointermove", (event) => view.pointAt(cellOf(event)));
  canvas.addEventListener("pointerleave", () => view.pointAt(null));
  canvas.addEventListener("click", (event) => { const cell = cellOf(event); if (cell) view.open(cell); });
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) view.pointAt(view.point ?? { query: 0, key: 0 }); });
  canvas.addEventListener("blur", () => view.pointAt(null));
  canvas.addEventListener("keydown", (event) => {
    const now = view.point ?? { query: 0, key: 0 };
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (step) view.pointAt({ query: within(now.query + step[0], 0, kind.queries - 1), key: within(now.key + step[1], 0, kind.keys - 1) });
    else if (event.key === "Enter" || event.key === " ") view.open(now);
    else return;
    handled(event);
  });
}

export function showMatrix(view, here, focus) {
  const kind = view.message.kind[here.kind], { canvas, frame, wide, tall, rows, columns } = view.cells;
  const weights = ofHead(kind, here.layer, here.head), exact = exactOf(view, here.kind, here.layer, here.head);
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
      context.globalAlpha = kind.mask[q * kind.keys + k] ? 0.07 + 0.93 * (byte / 255) : 0.28;
      context.fillStyle = kind.mask[q * kind.keys + k] ? color : "#808896";
      context.fillRect(x + 0.5, y + 0.5, wide - 1, tall - 1);
      if (size < 0.8 * view.rem || !exact || byte < 2) continue;
      context.globalAlpha = 1;
      context.fillStyle = byte > 120 ? ground : ink;
      const text = percent(exact[q * kind.keys + k]);
      context.fillText(text, x + wide / 2, y + tall / 2 + size * 0.36);
    }
  }
  context.globalAlpha = 1;
  rows.forEach((name, q) => name.classList.toggle("on", focus.query === q));
  columns.forEach((name, k) => name.classList.toggle("on", focus.key === k));
  const [left, width] = focus.key === null ? [0, kind.keys] : [focus.key, 1], [top, height] = focus.query === null ? [0, kind.queries] : [focus.query, 1];
  frame.hidden = focus.key === null && focus.query === null;
  frame.style.cssText = `left:${left * wide}px;top:${top * tall}px;width:${width * wide}px;height:${height * tall}px`;
  canvas.setAttribute("aria-label", `${kind.title}, layer ${here.layer + 1}, head ${here.head + 1}, as a matrix. ${view.sentence}`);
}
