// A grid of numbers as colours, with a switch between several sets of them. Pointing at a cell or moving to it with the
// arrow keys describes it in words; a click or Enter chooses it. All numbers arrive with the message, so only a choice
// needs the server.

import { cellByKey, isOfBrowser } from "../shared/arrow_keys.js";
import { board, head } from "../shared/board.js";
import { element, focusedIn, handled, within } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { fixed } from "../shared/numbers.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { radios } from "../shared/radios.js";
import { measurer } from "../shared/svg.js";
import { quoted } from "../shared/token.js";
import { scaleOfPage, watchWidth } from "../shared/watch_size.js";

const NARROW = 700, HIGHEST = 32, LEAST = { wide: 6, high: 3 };

const largest = (values) => Math.max(...values.map(Math.abs), 1e-9);

// Positions and sizes in px before scaling: in a window of 1280x720 the scale is 1.
function layout(root, { rows, columns, height }, unit, measure) {
  const room = root.clientWidth / unit, isNarrow = room < NARROW;
  const left = Math.min(Math.max(...rows.names.map((name) => measure(name, 15)), measure(rows.title, 14)) + 16, room * 0.3);
  const wide = within((room - left - 60) / columns.names.length, isNarrow ? 14 : LEAST.wide, 74);
  const needed = head(columns.names, wide, measure);
  // px of height that the grid has in addition. The style sheet of a lecture sets them.
  const addedHeight = parseFloat(getComputedStyle(root).getPropertyValue("--grid-more")) || 0;
  return { left, ...needed, wide, high: within((height + addedHeight - needed.top) / rows.names.length, LEAST.high, HIGHEST) };
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), state = (root.headlight ??= { view: 0 });
  const { rows, columns, views } = data, across = columns.names.length, count = rows.names.length * across;
  state.view = Math.min(state.view, views.length - 1);
  let chosen = currentChoice(root, "cell", { ...data, count }), at = chosen, main;
  const place = (index) => [Math.floor(index / across), index % across];
  const hadFocus = Boolean(focusedIn(root)?.closest("svg")), measure = measurer(root);
  root.replaceChildren();
  const switches = element("div", "segments", root), frame = element("div", "scroll", root), words = element("p", { class: "status", "aria-live": "polite" }, root);
  const cell = element("span", "", words), means = element("span", "means", words);

  function say() {
    const [row, column] = place(at), view = views[state.view];
    const text = { row: quoted(rows.names[row]), column: quoted(columns.names[column]), value: fixed(view.values[row][column], Math.max(view.digits, 2)) };
    cell.textContent = view.says.replace(/\{(row|column|value)\}/g, (whole, name) => text[name]);
    means.textContent = view.means;
  }
  function point(index) {
    const [row, column] = place((at = index));
    main.near(row, column);
    main.frame("pointed", row, column);
    say();
  }
  function show(index) {
    state.view = index;
    const view = views[index], values = view.values.flat(), most = largest(values);
    values.forEach((value, i) => main.show(i, value, view, most));
    say();
  }
  function mark() {
    if (data.framed) main.frame("chosen", ...place(chosen));
  }
  function choose(index) {
    chosen = index;
    setTriggerValue("chosen", numbered(root, "cell", index));
    mark();
    point(index);
  }
  function listen(svg) {
    svg.addEventListener("pointerover", ({ target }) => { if (target.dataset.at) point(Number(target.dataset.at)); });
    svg.addEventListener("pointerleave", () => point(chosen));
    svg.addEventListener("click", ({ target }) => {
      const name = target.closest("[data-row], [data-column]")?.dataset ?? {}, [row, column] = place(chosen);
      if (target.dataset.at) choose(Number(target.dataset.at));
      else if (name.row) choose(Number(name.row) * across + column);
      else if (name.column) choose(row * across + Number(name.column));
    });
    svg.addEventListener("keydown", (event) => {
      const cell = cellByKey(event, place(at), rows.names.length, across);
      if (cell) point(cell[0] * across + cell[1]);
      else if ((event.key === "Enter" || event.key === " ") && !isOfBrowser(event)) { handled(event); choose(at); }
    });
  }
  function draw() {
    const unit = scaleOfPage();
    main = board(data, layout(root, data, unit, measure), unit, measure);
    main.svg.classList.add("picture");
    listen(main.svg);
    frame.replaceChildren(main.svg);
    show(state.view);
    mark();
    point(at);
  }
  if (views.length > 1) {
    const made = radios(switches, _("What is shown"), views.map(({ name }) => name), state.view, (index) => { made.mark(index); show(index); });
  }
  draw();
  if (hadFocus) main.svg.focus({ preventScroll: true });
  return watchWidth(root, draw);
}
