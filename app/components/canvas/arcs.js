// The arcs of the head that is shown. Each pair of tokens keeps its arc when the head changes: only the
// width and the opacity change.

import { curve } from "./place.js";
import { ofHead } from "./message.js";
import { make } from "../shared/svg.js";

// The smallest weight that is drawn, in 255ths. FAINTEST: usually. FAINTEST_ISOLATED: for arcs of the isolated token.
// FAINTEST_OF_OTHERS: for all other arcs, if there are more than MANY cells.
const FAINTEST = 6, FAINTEST_ISOLATED = 2, FAINTEST_OF_OTHERS = 60;
const MANY = 700;  // cells
const CLICKABLE = 10;  // 255ths: the smallest weight that can be clicked

export function newArcs(view) {
  const { layout, stage } = view;
  stage.svg.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
  stage.svg.style.cssText = `width:${layout.width}px;height:${layout.height}px`;
  stage.svg.replaceChildren();
  view.arcs = new Map();
}

function arcOf(view, query, key) {
  const name = `${query},${key}`;
  if (!view.arcs.has(name)) {
    const arc = make("path", { class: "arc", d: curve(view.layout, query, key), "data-query": query, "data-key": key }, view.stage.svg);
    arc.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") view.pointAt({ query, key }); });
    arc.addEventListener("pointerleave", () => view.pointAt(null));
    arc.addEventListener("click", () => view.open({ query, key }));
    view.arcs.set(name, arc);
  }
  return view.arcs.get(name);
}

export function drawArcs(view, here, focus) {
  const kind = view.message.kind[here.kind], weights = ofHead(kind, here.layer, here.head);
  const isolated = focus.query !== null || focus.key !== null, rem = view.rem / 16;
  const drawn = new Set(), many = kind.queries * kind.keys > MANY;
  const { keys, queries } = view.layout;  // in a lecture, the end of a long sentence may be left out
  for (let q = 0; q < Math.min(queries.length, view.written); q++) {
    for (let k = 0; k < keys.length; k++) {
      const byte = weights[q * kind.keys + k];
      const mine = (focus.query === null || focus.query === q) && (focus.key === null || focus.key === k);
      if (byte < (!mine && many ? FAINTEST_OF_OTHERS : mine && isolated ? FAINTEST_ISOLATED : FAINTEST)) continue;
      const arc = arcOf(view, q, k), weight = byte / 255;
      arc.style.strokeWidth = `${((1 + 8 * weight) * rem).toFixed(2)}px`;
      arc.style.opacity = mine ? (0.1 + 0.8 * weight).toFixed(3) : many ? "0.025" : "0.05";
      arc.style.pointerEvents = byte >= CLICKABLE && mine ? "stroke" : "none";
      drawn.add(`${q},${k}`);
    }
  }
  for (const [name, arc] of view.arcs) {
    if (drawn.has(name)) continue;
    arc.style.opacity = "0";
    arc.style.pointerEvents = "none";
  }
}
