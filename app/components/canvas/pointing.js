// Isolates a token by mouse, finger or keyboard. A token is isolated while it is hovered or has the focus. A click or
// Enter pins it, the next one unpins it, and Escape unpins all. Arrow keys move along a row and to the other row. If a
// key and a query are pinned, the heads that link them are shown.

import { isOfBrowser } from "../shared/arrow_keys.js";
import { handled, within } from "../shared/dom.js";

export function listen(view) {
  const { tokens } = view.stage;
  const of = (event) => {
    const node = event.target.closest?.(".token");
    return node ? { side: node.dataset.side, index: +node.dataset.index } : null;
  };
  const alone = ({ side, index }) => ({ query: null, key: null, [side]: index });
  tokens.addEventListener("pointerover", (event) => {
    const found = of(event);
    if (found && event.pointerType === "mouse") view.pointAt(alone(found));
  });
  tokens.addEventListener("pointerout", (event) => { if (of(event)) view.pointAt(null); });
  tokens.addEventListener("focusin", (event) => {
    const found = of(event);
    if (found && event.target.matches(":focus-visible")) view.pointAt(alone(found));
  });
  tokens.addEventListener("focusout", (event) => { if (of(event)) view.pointAt(null); });
  tokens.addEventListener("click", (event) => { const found = of(event); if (found) view.togglePin(found.side, found.index); });
  tokens.addEventListener("keydown", (event) => walk(view, event, of(event)));
}

function walk(view, event, from) {
  if (event.key === "Escape" && (view.cell || view.pins.query !== null || view.pins.key !== null)) view.unpin();
  else if (from && event.key.startsWith("Arrow") && !isOfBrowser(event)) {
    const flat = view.layout.flat;
    const [back, on, up, down] = flat ? ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] : ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
    const side = event.key === up ? "key" : event.key === down ? "query" : from.side;
    const other = view.tokens[side], index = from.index + (event.key === on ? 1 : event.key === back ? -1 : 0);
    const place = side === from.side ? index : nearest(view, from, side);
    const goal = other[within(place, 0, other.length - 1)];
    Object.values(view.tokens).flat().forEach((node) => { node.tabIndex = -1; });
    goal.tabIndex = 0;
    goal.focus();
  } else return;
  handled(event);
}

function nearest(view, from, side) {
  const boxes = side === "key" ? ["queries", "keys"] : ["keys", "queries"], middle = (box) => (view.layout.flat ? box.x + box.w / 2 : box.y + box.h / 2);
  const goal = middle(view.layout[boxes[0]][from.index]);
  return view.layout[boxes[1]].reduce((best, box, i, all) => (Math.abs(middle(box) - goal) < Math.abs(middle(all[best]) - goal) ? i : best), 0);
}
