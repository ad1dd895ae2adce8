// Attention as lines between two rows of tokens: keys above or left, queries below or right. The rows are horizontal
// where both fit below each other, and vertical elsewhere. Hover, focus or click isolates a token, which is also spoken.
// With `heads`, all heads of a layer are drawn, each in its colour. The weights arrive as base64 of float32: what is
// drawn is the tensor.

import { chooseHeads } from "./heads.js";
import { draw } from "./picture.js";
import { watchSize } from "../shared/watch_size.js";

function decode(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { pinned: null, sentence: null, row: null, head: null, on: new Set() });
  if (!root.querySelector(".stage")) {
    const bar = document.createElement("div");
    bar.className = "heads";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Heads that are drawn");
    const stage = document.createElement("div"), spoken = document.createElement("div"), alt = document.createElement("p");
    stage.className = "stage";
    spoken.className = "spoken";
    spoken.setAttribute("aria-live", "polite");
    alt.className = "alt hidden";
    root.replaceChildren(bar, stage, spoken, alt);
  }
  const sentence = JSON.stringify([data.keys.tokens, data.queries.tokens]);
  if (state.sentence !== sentence) state.pinned = null;  // another sentence: the pinned token is gone; another head: it stays
  // The row that the server isolates, where it has changed; else what the reader pinned here stays.
  const row = data.row ?? null;
  if (row !== null && (row !== state.row || state.sentence !== sentence)) state.pinned = { side: 1, index: row };
  if (row === null && state.row !== null && state.pinned?.side === 1) state.pinned = null;
  state.row = row;
  state.sentence = sentence;
  // Another head is chosen: only it is on. Another layer: the same heads are on.
  const head = data.heads ? `${data.chosen} of ${data.heads.length}` : null;
  if (head !== state.head) state.on = new Set([data.chosen]);
  state.head = head;
  state.report = (pinned) => { if (data.reports) setTriggerValue("pin", pinned ?? { side: -1, index: 0 }); };
  state.data = data;
  state.weights = decode(data.weights);
  root.querySelector(".alt").textContent = data.alt;
  chooseHeads(root, state);
  draw(root, state);
  let before = root.clientWidth;
  const watcher = watchSize(root, () => {
    if (Math.abs(root.clientWidth - before) < 2) return;
    before = root.clientWidth;
    draw(root, state);
  });
  return () => watcher.disconnect();
}
