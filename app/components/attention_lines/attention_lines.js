// Attention as lines between two rows of tokens: keys above or left, queries below or right. The rows are horizontal
// where both fit below each other, and vertical elsewhere. Hover, focus or click isolates a token, which is also spoken.
// With `heads`, all heads of a layer are drawn, each in its colour. The weights arrive as base64 of float32: what is
// drawn is the tensor.

import { chooseHeads } from "./heads.js";
import { draw } from "./picture.js";
import { numbersIn } from "../shared/arrays.js";
import { element } from "../shared/dom.js";
import { watchWidth } from "../shared/watch_size.js";

const LATER = 600;  // ms until the page hears which heads are on: of a double click the buttons must stay in place

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { pinned: null, sentence: null, row: null, head: null, on: new Set() });
  if (!root.querySelector(".stage")) {
    root.replaceChildren();
    element("div", { class: "heads", role: "group", "aria-label": "Heads that are drawn" }, root);
    element("div", "stage", root);
    element("div", { class: "spoken", "aria-live": "polite" }, root);
    element("p", "alt hidden", root);
  }
  const sentence = JSON.stringify([data.keys.tokens, data.queries.tokens]);
  if (state.sentence !== sentence) state.pinned = null;  // another sentence: the pinned token is gone; another head: it stays
  // The row that the server isolates, where it has changed; else what the reader pinned here stays.
  const row = data.row ?? null;
  if (row !== null && (row !== state.row || state.sentence !== sentence)) state.pinned = { side: 1, index: row };
  if (row === null && state.row !== null && state.pinned?.side === 1) state.pinned = null;
  state.row = row;
  state.sentence = sentence;
  // Another head is chosen: those are on that the page says. Another layer: the same heads are on.
  const head = data.heads ? `${data.chosen} of ${data.heads.length}` : null;
  if (head !== state.head) state.on = new Set(data.on);
  state.head = head;
  state.report = (pinned) => { if (data.reports) setTriggerValue("pin", pinned ?? { side: -1, index: 0 }); };
  state.tell = () => {
    clearTimeout(state.telling);
    state.telling = setTimeout(() => setTriggerValue("heads", [...state.on]), LATER);
  };
  state.data = data;
  state.weights = numbersIn(data.weights);
  root.querySelector(".alt").textContent = data.alt;
  chooseHeads(root, state);
  draw(root, state);
  return watchWidth(root, () => draw(root, state));
}
