// The tokens at the left of a picture: a row for each, one of which is followed.

import { itemByKey } from "../shared/arrow_keys.js";
import { onPointing } from "../shared/pointing.js";
import { cut, make, write } from "../shared/svg.js";
import { inWords } from "../shared/token.js";

const LEAST = 17, MOST = 32, WIDEST = 132;  // px at 1280x720

// The height of a row and the width of the tokens, in px; `unit` is 1 in a window of 1280x720, see `scaleOfPage`.
export function room(tokens, height, unit, measure) {
  const high = Math.min(Math.max(height / tokens.length, LEAST * unit), MOST * unit);
  const wide = Math.max(...tokens.map((token) => 1.08 * measure(token, 15.2 * unit)), 20 * unit);
  return { high, left: Math.min(wide, WIDEST * unit) + 10 * unit };
}

// Draws the tokens. `follow` gets the place of the token that was clicked or chosen with the arrow keys.
export function drawRows(svg, { tokens, color, followed, follow, label, top, high, left, unit, measure }) {
  const group = make("g", { role: "radiogroup", "aria-label": label }, svg);
  const rows = tokens.map((token, i) => {
    const row = make("g", { class: "row", role: "radio", "aria-checked": String(i === followed), tabindex: i === followed ? 0 : -1, "aria-label": `${i + 1} ${inWords(token)}` }, group);
    make("rect", { x: 0, y: top + i * high, width: left, height: high, fill: "transparent" }, row);
    const text = make("text", { x: left - 8 * unit, y: top + (i + 0.5) * high, "text-anchor": "end", "dominant-baseline": "central", style: `fill: ${color}` }, row);
    write(text, cut(token, left - 8 * unit, 15.2 * unit, (part, size) => 1.06 * measure(part, size)));
    row.addEventListener("click", () => follow(i, true));
    row.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") return;  // these keys go to another station
      const goal = itemByKey(event, i, tokens.length);
      if (goal !== undefined) follow(goal, true);
    });
    return row;
  });
  return rows;
}

// Writes, below a picture, the number of the cell that is pointed at or tapped (`textAt`), otherwise `usual`. A click
// follows a row (`rowAt`).
export function readCells(image, view, textAt, usual, rowAt) {
  onPointing(image, (event) => {
    const text = textAt(event);
    if (event.type === "click") view.follow(rowAt(event));  // draws the picture again, with its usual text
    view.read.textContent = text;
  }, () => { view.read.textContent = usual; });
}

// A frame round what is followed.
export function framed(svg, x, y, width, height, color, thick) {
  make("rect", { class: "mark", x, y, width, height, stroke: color, "stroke-width": thick, rx: 2 }, svg);
}
