// Attention as lines between two rows of tokens: keys above or left, queries below or right. The rows are horizontal
// if both fit the width, otherwise vertical. Hover, focus or click isolates a token, and a screen reader reads it out.
// With `heads`, all heads of a layer are drawn, each in its colour. The weights arrive as base64 of float32, so the
// picture is drawn from the exact tensor.

import { chooseHeads } from "./heads.js";
import { draw } from "./picture.js";
import { numbersIn } from "../shared/arrays.js";
import { element } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { watchWidth } from "../shared/watch_size.js";

// ms before the server is told which heads are on. The page is then drawn again, which must not move the buttons during
// a double click.
const REPORT_DELAY = 600;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { pinned: null, sentence: null, row: null, head: null, on: new Set() });
  if (!root.querySelector(".stage")) {
    root.replaceChildren();
    element("div", { class: "heads", role: "group", "aria-label": _("Heads that are drawn") }, root);
    element("div", "stage", root);
    element("div", { class: "status", "aria-live": "polite" }, root);
    element("p", "alt hidden", root);
  }
  const sentence = JSON.stringify([data.keys.tokens, data.queries.tokens]);
  if (state.sentence !== sentence) state.pinned = null;  // a new sentence unpins the token; another head does not
  // If the server isolates another row, that row is pinned; otherwise what the reader pinned stays.
  const row = data.row ?? null;
  // A row that the server sent before it received the latest pin is ignored.
  if (state.sentence !== sentence || row === state.reportedRow) state.reportedRow = undefined;
  const isCurrent = state.reportedRow === undefined;
  if (isCurrent && row !== null && (row !== state.row || state.sentence !== sentence)) state.pinned = { side: 1, index: row };
  if (isCurrent && row === null && state.row !== null && state.pinned?.side === 1) state.pinned = null;
  state.row = row;
  state.sentence = sentence;
  // If another head is chosen, `data.on` says which heads are on. If only the layer changes, the same heads stay on.
  const head = data.heads ? `${data.chosen} of ${data.heads.length}` : null;
  if (head !== state.head) state.on = new Set(data.on);
  state.head = head;
  state.report = (pinned) => {
    if (!data.reports) return;
    state.reportedRow = pinned?.side === 1 ? pinned.index : null;
    setTriggerValue("pin", pinned ?? { side: -1, index: 0 });
  };
  state.reportHeads = () => {
    clearTimeout(state.reportTimer);
    state.reportTimer = setTimeout(() => setTriggerValue("heads", [...state.on]), REPORT_DELAY);
  };
  state.data = data;
  state.weights = numbersIn(data.weights);
  root.querySelector(".alt").textContent = data.alt;
  chooseHeads(root, state);
  draw(root, state);
  return watchWidth(root, () => draw(root, state));
}
