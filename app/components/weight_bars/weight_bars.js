// A row of attention weights that is set by hand. Dragging needs no server: the other bars change at once. When the
// drag ends, the row is sent to the page, which makes an edit of it; until the page has received it, this component
// shows its own row.

import { button, element, focusedIn } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { currentChoice, isNewSession, numbered } from "../shared/numbered_choices.js";
import { barsOf } from "./bars.js";
import { onlyOn, uniform, whole } from "./weights.js";

function list(parent, root, { name, label, texts, chosen, disabled }, received, report) {
  const node = element("select", { "data-name": name }, element("label", "", parent, `${label} `));
  texts.forEach((text, index) => node.add(new Option(text, String(index))));
  node.selectedIndex = currentChoice(root, name, { chosen, count: texts.length, received });
  node.disabled = Boolean(disabled);
  node.addEventListener("change", () => report(name, node.selectedIndex));
}

const numbers = (count) => Array.from({ length: count }, (unused, index) => String(index + 1));

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (root.headlight ??= { sent: 0 });
  const isOther = state.words !== data.words, isOtherRow = isOther || state.place !== data.place;
  if (state.dragged !== undefined && !isOtherRow) return;  // after the drag the page gets the row and draws again
  const focused = focusedIn(root), focus = focused?.dataset?.name ?? (focused?.className.includes("column") ? "bar" : "");
  if (isOther) state.selected = data.row.indexOf(Math.max(...data.row));
  if (isOtherRow) {
    clearTimeout(state.waiting);
    Object.assign(state, { words: data.words, place: data.place, dragged: undefined, sent: 0, waiting: undefined });
  }
  state.data = data;
  if (isNewSession(root, data.received)) state.sent = 0;
  if (data.received >= state.sent) state.row = data.row;
  root.style.setProperty("--bar", data.color);
  root.style.setProperty("--chosen", data.chosenColor);

  const sendRow = (weights) => {
    clearTimeout(state.waiting);
    state.waiting = undefined;
    state.sent = numbered(root, "row", 0).number;
    setTriggerValue("released", { weights, number: state.sent });
  };
  state.sendRow = sendRow;
  const take = (row) => { state.row = row; picture.show(); sendRow(whole(row)); };
  const report = (name, index) => {
    if (state.waiting) sendRow(whole(state.row));  // before the page shows another row
    setTriggerValue("chosen", numbered(root, name, index));
  };

  const tools = element("div", "tools"), frame = element("div", { class: "columns sideways", role: "group", "aria-label": data.alt });
  for (const choice of [
    { name: "step", label: _("Predicting"), texts: data.steps, chosen: data.step },
    { name: "layer", label: _("Layer"), texts: numbers(data.layers), chosen: data.layer },
    { name: "head", label: _("Head"), texts: numbers(data.heads), chosen: data.head, disabled: data.all },
  ]) list(tools, root, choice, data.received, report);
  const all = { "data-name": "all", "aria-pressed": data.all };
  button(all, tools, _("All heads of this layer"), () => report("all", Number(!data.all)));
  button({ "data-name": "only" }, tools, _("All weight on this token"), () => take(onlyOn(state.row, state.selected)));
  button({ "data-name": "uniform" }, tools, _("Uniform"), () => take(uniform(state.row)));
  button({ "data-name": "reset" }, tools, _("Reset"), () => { state.row = data.base; picture.show(); sendRow(null); });
  const picture = barsOf(frame, state, {
    changed: () => picture.show(),
    released: (patience = 0) => {
      clearTimeout(state.waiting);
      state.sent = Infinity;  // so that what the page draws meanwhile does not replace the row
      state.waiting = setTimeout(() => state.sendRow(whole(state.row)), patience);
    },
  });
  const left = root.querySelector(".columns")?.scrollLeft ?? 0;
  root.replaceChildren(tools, frame);
  const selected = frame.children[state.selected];
  frame.scrollLeft = isOther ? selected.offsetLeft - (frame.clientWidth - selected.clientWidth) / 2 : left;
  const again = focus === "bar" ? ".column.selected" : focus && `[data-name="${focus}"]`;
  if (again) root.querySelector(again)?.focus({ preventScroll: true });
}
