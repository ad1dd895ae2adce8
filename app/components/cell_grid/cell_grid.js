// A grid of numbers as colours, with a switch between several sets of them. Pointing at a cell, or the arrow keys, says it
// in words; a click or Enter chooses it. All numbers arrive with the message, so only a choice needs the server.

import { board, head } from "./board.js";
import { element, focusedIn, handled, within } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { numbered, standing } from "../shared/numbered_choices.js";
import { radios } from "../shared/radios.js";
import { measurer } from "../shared/svg.js";
import { quoted } from "../shared/token.js";
import { scaleOfPage, watchWidth } from "../shared/watch_size.js";

const GAP = 20, NARROW = 700, OTHER_WIDE = 92, OTHER_HEAD = 74, HIGHEST = 32, LEAST = { wide: 6, high: 3 };

const largest = (values) => Math.max(...values.map(Math.abs), 1e-9);

// Where everything is, in px of a window of 1280x720: the grid, and beside it (below it on a phone) a column for each view.
function layout(root, { rows, columns, views, beside, height }, unit, measure) {
  const room = root.clientWidth / unit, isNarrow = room < NARROW, names = views.map(({ name }) => name);
  const left = Math.min(Math.max(...rows.names.map((name) => measure(name, 15)), measure(rows.title, 14)) + 16, room * 0.3);
  const other = Math.min((room - left - (isNarrow ? 50 : 4)) / views.length, OTHER_WIDE), taken = beside && !isNarrow ? GAP + other * views.length : 0;
  const wide = within((room - left - taken - 60) / columns.names.length, isNarrow ? 14 : LEAST.wide, 74);
  const needed = head(columns.names, wide, measure), top = taken ? Math.max(needed.top, OTHER_HEAD) : needed.top;
  const high = within((height - top) / rows.names.length, LEAST.high, HIGHEST);
  const second = isNarrow ? { left, ...head(names, other, measure) } : { left: 0, top: 0, flat: true, tail: 2 };
  return { isNarrow, names: isNarrow ? names : names.map(() => ""), main: { left, ...needed, top, wide, high }, beside: { ...second, wide: other, high } };
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), state = (root.headlight ??= { view: 0 });
  const { rows, columns, views } = data, across = columns.names.length, count = rows.names.length * across;
  state.view = Math.min(state.view, views.length - 1);
  let chosen = standing(root, "cell", { ...data, count }), at = chosen, main, other;
  const place = (index) => [Math.floor(index / across), index % across];
  const hadFocus = Boolean(focusedIn(root)?.closest("svg")), measure = measurer(root);
  root.replaceChildren();
  const switches = element("div", "segments"), frame = element("div", "frame", root), words = element("p", { class: "said", "aria-live": "polite" }, root);
  const cell = element("span", "", words), means = element("span", "means", words);

  function say(view = views[state.view]) {
    const [row, column] = place(at);
    const text = { row: quoted(rows.names[row]), column: quoted(columns.names[column]), value: fixed(view.values[row][column], Math.max(view.digits, 2)) };
    cell.textContent = view.says.replace(/\{(row|column|value)\}/g, (_, name) => text[name]);
    means.textContent = view.means;
  }
  function point(index, view) {
    const [row, column] = place((at = index));
    main.near(row, column);
    main.frame("pointed", row, column);
    if (other) {
      other.title.textContent = data.beside.replace("{column}", quoted(columns.names[column]));
      views.forEach((view, which) => {
        const values = view.values.map((each) => each[column]), most = largest(values), first = values.indexOf(Math.max(...values));
        values.forEach((value, i) => other.board.show(i * views.length + which, value, view, most, i === first));
      });
    }
    say(view);
  }
  function show(index) {
    state.view = index;
    const view = views[index], values = view.values.flat(), most = largest(values);
    values.forEach((value, i) => main.show(i, value, view, most));
    say();
  }
  function mark() {
    const [row, column] = place(chosen);
    for (const each of [main, other?.board]) if (data.frame === "row") each?.frame("chosen", row);
    if (data.frame === "cell") main.frame("chosen", row, column);
  }
  function choose(index) {
    chosen = index;
    setTriggerValue("chosen", numbered(root, "cell", index));
    mark();
    point(index);
  }
  // `cellAt` gives of the number of a cell in a drawing the cell of the grid and, beside it, the view.
  function listen(svg, cellAt) {
    svg.addEventListener("pointerover", ({ target }) => { if (target.dataset.at) point(...cellAt(Number(target.dataset.at))); });
    svg.addEventListener("pointerleave", () => point(chosen));
    svg.addEventListener("click", ({ target }) => {
      const name = target.closest("[data-row], [data-column]")?.dataset ?? {}, [row, column] = place(chosen);
      if (target.dataset.at) choose(cellAt(Number(target.dataset.at))[0]);
      else if (name.row) choose(Number(name.row) * across + column);
      else if (name.column) choose(row * across + Number(name.column));
    });
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
      if (event.key === "Enter" || event.key === " ") { handled(event); choose(at); }
      if (step) { handled(event); point(within(at + step, 0, count - 1)); }
    });
  }
  function draw() {
    const unit = scaleOfPage(), size = layout(root, data, unit, measure);
    frame.replaceChildren();
    main = board(data, size.main, unit, measure);
    listen(main.svg, (index) => [index]);
    element("div", "scroll", frame).append(main.svg);
    frame.before(switches);
    if (data.beside) {
      const box = element("div", "beside", frame), header = element("div", "header", box), title = element("div", "title", header);
      const drawn = board({ rows, columns: { names: size.names, color: columns.color }, alt: data.beside }, size.beside, unit, measure);
      if (!size.isNarrow) {
        header.append(switches);
        header.style.minHeight = `${size.main.top * unit}px`;
        switches.style.gridTemplateColumns = `repeat(${views.length}, ${size.beside.wide * unit}px)`;
      }
      box.append(drawn.svg);
      listen(drawn.svg, (index) => [Math.floor(index / views.length) * across + place(chosen)[1], views[index % views.length]]);
      other = { board: drawn, title };
    }
    frame.classList.toggle("wide", !size.isNarrow);
    show(state.view);
    mark();
    point(at);
  }
  if (views.length > 1) {
    const made = radios(switches, "What is shown", views.map(({ name }) => name), state.view, (index) => { made.mark(index); show(index); });
  }
  draw();
  if (hadFocus) main.svg.focus({ preventScroll: true });
  return watchWidth(root, draw);
}
