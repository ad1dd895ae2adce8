// A padded batch of two sentences. Above are its tokens; below are two matrices side by side, of one head with the
// padding mask and without it, and what becomes of the translation. Pointing at a cell marks it in both matrices; arrow
// keys do the same.

import { board, head } from "../shared/board.js";
import { cellByKey } from "../shared/arrow_keys.js";
import { element, focusedIn, setColors, within } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { decimal } from "../shared/numbers.js";
import { layerAndHead } from "../shared/number_list.js";
import { hatch, make, measurer } from "../shared/svg.js";
import { inWords, put } from "../shared/token.js";
import { scaleOfPage, scrollsByKeys, watchWidth } from "../shared/watch_size.js";

const HEIGHT = 264, NARROW = 560, GAP = 28, LEAST = 5, HIGHEST = 24, WIDEST = 44;

function batch(root, { lines }) {
  const box = element("div", { class: "batch sideways", role: "table", "aria-label": _("The batch: padding makes both sentences equally long") }, root);
  for (const { name, tokens, real } of lines) {
    const line = element("div", { class: "line", role: "row", style: `--tokens: ${tokens.length}` }, box);
    element("span", { class: "who", role: "rowheader" }, line, name);
    tokens.forEach((token, at) => put(element("span", { class: at < real ? "token" : "token pad", role: "cell", title: token }, line), token));
  }
}

function results(root, data) {
  const list = element("dl", "results", root);
  for (const { label, text, note, changed } of data.results) {
    const one = element("div", changed ? "changed" : "", list);
    element("dt", "", one, label);
    scrollsByKeys(element("dd", { class: "text", lang: data.lang, dir: "auto" }, one, text || _("(nothing)")));
    element("dd", "note", one, note);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), { rows, columns, real } = data, measure = measurer(root);
  const active = focusedIn(root), focused = active?.dataset.name, wasPointed = Boolean(active?.closest("svg"));
  const across = columns.names.length, down = rows.names.length;
  const leaks = data.weights[1].values.map((row) => row.slice(real)), most = Math.max(...leaks.flat());
  const first = Math.max(leaks.findIndex((row) => row.includes(most)), 0);
  // `isSame`: the tokens are the same as before, for example after the mask was switched.
  const shown = JSON.stringify([rows.names, columns.names]), isSame = root.headlight?.shown === shown;
  const at = isSame ? root.headlight.at : { row: first, column: Math.min(real + Math.max(leaks[first].indexOf(most), 0), across - 1) };
  root.headlight = { shown, at };
  setColors(root, data.colors);
  root.replaceChildren();
  batch(root, data);
  const duo = element("div", "duo", root), picture = element("div", "matrices", duo);
  results(duo, data);
  const tools = element("div", "tools", picture), frame = element("div", "frame picture", picture);
  const words = element("p", { class: "status", "aria-live": "polite" }, picture);
  element("span", "kind", tools, data.kind);
  const report = (value) => setTriggerValue("chosen", value);
  layerAndHead(tools, root, data, report);
  const legend = element("span", "legend", tools);
  for (const [name, means] of [["pad", _("padding, hidden by the mask")], ["leak", _("weight on padding")]]) {
    element("i", name, element("span", "", legend)).after(means);
  }
  let boards = [];

  function point(row, column) {
    Object.assign(at, { row, column });
    for (const each of boards) {
      each.near(at.row, at.column);
      each.frame("pointed", at.row, at.column);
    }
    const [masked, free] = data.weights.map(({ values }) => decimal(values[at.row][at.column], 3));
    const values = { query: inWords(rows.names[at.row]), key: inWords(columns.names[at.column]), position: at.column + 1, masked, free };
    words.textContent = data.isOff
      ? _("“{query}” gives “{key}” (position {position}) a weight of {masked} with the mask, {free} without it.", values)
      : _("“{query}” gives “{key}” (position {position}) a weight of {masked} with the mask.", values);
  }
  function drawn(which, size, unit) {
    const { title, values } = data.weights[which], isFree = which === 1 && data.isOff, { left, top, wide, high } = size;
    const made = board({ rows, columns, alt: _("{kind}, {title}. Arrow keys move.", { kind: data.kind, title }) }, size, unit, measure), { svg } = made;
    hatch(svg);
    const cells = [...svg.querySelectorAll(".cell")];
    values.forEach((row, i) => row.forEach((weight, j) => {
      const index = i * across + j, isPad = j >= real;
      if (isPad && !isFree) cells[index].style.fill = "url(#hatch)";
      else made.show(index, weight, { scale: isPad ? data.leak : data.scale, digits: 2 }, 1);
    }));
    if (real < across) {
      const place = { x: left + real * wide, y: top, width: (across - real) * wide, height: high * down };
      make("rect", { class: isFree ? "leak" : "forbidden", rx: 3, ...place }, svg);
    }
    const go = ({ target }) => { if (target.dataset.at) point(Math.floor(target.dataset.at / across), target.dataset.at % across); };
    for (const kind of ["pointerover", "pointerdown"]) svg.addEventListener(kind, go);
    svg.addEventListener("keydown", (event) => {
      const cell = cellByKey(event, [at.row, at.column], down, across);
      if (cell) point(...cell);
    });
    return made;
  }
  function draw() {
    const unit = scaleOfPage(), room = picture.clientWidth / unit, isNarrow = room < NARROW;
    const hadFocus = Boolean(focusedIn(frame));
    const left = Math.min(Math.max(...rows.names.map((name) => measure(name, 15)), measure(rows.title, 14)) + 16, isNarrow ? 100 : 130);
    const wide = within((isNarrow ? room - left - 50 : (room - left - GAP - 80) / 2) / across, LEAST, WIDEST);
    const above = head(columns.names, wide, measure), high = within((HEIGHT - above.top) / down, LEAST, HIGHEST);
    frame.replaceChildren();
    boards = data.weights.map(({ title }, which) => {
      const made = drawn(which, { left: which && !isNarrow ? 0 : left, wide, high, ...above }, unit);
      const box = element("figure", "", frame);
      const caption = element("figcaption", which && data.isOff ? "free" : "", box, title);
      if (!(which && !isNarrow)) caption.style.paddingLeft = `${left * unit}px`;
      box.append(made.svg);
      return made;
    });
    point(at.row, at.column);
    if (hadFocus) boards[0].svg.focus({ preventScroll: true });
  }
  draw();
  if (wasPointed) boards[0].svg.focus({ preventScroll: true });
  if (focused) root.querySelector(`select[data-name="${focused}"]`)?.focus({ preventScroll: true });
  return watchWidth(root, draw);
}
