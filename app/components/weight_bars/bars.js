// A column for each key: its weight, a bar that can be dragged, a line at the model's own weight, and the token.

import { isOfBrowser } from "../shared/arrow_keys.js";
import { element, handled, within } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { inWords, put } from "../shared/token.js";
import { perCent, withWeight } from "./weights.js";

const SMALL = 0.05, LARGE = 0.2;

function columnOf(parent, token, index) {
  const label = _("Weight on key {key}, {token}", { key: index + 1, token: inWords(token) });
  const column = element("div", { class: "column", role: "slider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": label }, parent);
  const value = element("span", "value", column), track = element("div", "track", column);
  const bar = element("i", "bar", track), own = element("i", "own", track), word = element("span", "word", column);
  put(word, token);
  word.title = token;
  return { column, value, track, bar, own };
}

// `changed` is called at each change of a weight, also while a bar is dragged. `released` is called when a drag ends,
// and after each key press that changes a weight; then its argument is the ms to wait for more key presses.
export function barsOf(frame, state, { changed, released }) {
  const columns = state.data.tokens.map((token, index) => columnOf(frame, token, index));

  function show() {
    columns.forEach(({ column, value, bar, own }, index) => {
      const weight = state.row[index], isSelected = index === state.selected;
      value.textContent = perCent(weight);
      bar.style.height = `${100 * weight}%`;
      own.style.bottom = `${100 * state.data.base[index]}%`;
      column.classList.toggle("selected", isSelected);
      column.tabIndex = isSelected ? 0 : -1;
      column.setAttribute("aria-valuenow", String(Math.round(100 * weight)));
      const weights = { weight: perCent(weight), own: perCent(state.data.base[index]) };
      column.setAttribute("aria-valuetext", _("{weight}, the model's own weight is {own}", weights));
    });
  }
  function set(index, weight) {
    state.row = withWeight(state.row, index, within(weight, 0, 1), state.data.base);
    changed();
  }
  function select(index) {
    state.selected = within(index, 0, columns.length - 1);
    show();
  }

  columns.forEach(({ column, track }, index) => {
    const at = (event) => {
      const box = track.getBoundingClientRect();
      set(index, (box.bottom - event.clientY) / box.height);
    };
    column.addEventListener("pointerdown", () => { select(index); column.focus({ preventScroll: true }); });
    track.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      track.setPointerCapture(event.pointerId);
      state.dragged = index;
      frame.classList.add("dragged");
      at(event);
    });
    track.addEventListener("pointermove", (event) => { if (state.dragged === index) at(event); });
    const end = () => {
      if (state.dragged !== index) return;
      state.dragged = undefined;
      frame.classList.remove("dragged");
      released();
    };
    track.addEventListener("pointerup", end);
    track.addEventListener("pointercancel", end);
    column.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: SMALL, ArrowDown: -SMALL, PageUp: LARGE, PageDown: -LARGE, Home: -1, End: 1 };
      const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if ((!(event.key in steps) && !sideways) || isOfBrowser(event)) return;
      handled(event);
      if (sideways) {
        select(index + sideways);
        columns[state.selected].column.focus();
        return;
      }
      set(index, state.row[index] + steps[event.key]);
      released(400);
    });
  });
  show();
  return { show };
}
