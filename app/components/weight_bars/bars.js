// A column for each key: its weight, a bar that is dragged, a line where the model's own weight is, and the token.

import { put } from "../shared/token.js";
import { perCent, withWeight } from "./weights.js";

const SMALL = 0.05, LARGE = 0.2;

function part(parent, name, className) {
  const node = document.createElement(name);
  node.className = className;
  parent.append(node);
  return node;
}

function columnOf(parent, token, index) {
  const column = part(parent, "div", "column");
  column.setAttribute("role", "slider");
  column.setAttribute("aria-orientation", "vertical");
  column.setAttribute("aria-valuemin", "0");
  column.setAttribute("aria-valuemax", "100");
  column.setAttribute("aria-label", `Weight on key ${index + 1}, ${token.replace(/^▁/, "") || token}`);
  const value = part(column, "span", "value"), track = part(column, "div", "track");
  const bar = part(track, "i", "bar"), own = part(track, "i", "own"), word = part(column, "span", "word");
  put(word, token);
  word.title = token;
  return { column, value, track, bar, own };
}

// `changed` is told each weight while it is dragged, `released` when it is let go.
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
      column.setAttribute("aria-valuetext", `${perCent(weight)}, the model's own weight is ${perCent(state.data.base[index])}`);
    });
  }
  function set(index, weight) {
    state.row = withWeight(state.row, index, Math.min(Math.max(weight, 0), 1), state.data.base);
    changed();
  }
  function select(index) {
    state.selected = Math.min(Math.max(index, 0), columns.length - 1);
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
      if (!(event.key in steps) && !sideways) return;
      event.preventDefault();
      event.stopPropagation();
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
