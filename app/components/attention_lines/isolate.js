// Isolates one token of the lines: while it is hovered or focused, or after a click or Enter until a second click or
// Escape. Arrow keys walk along a row and to the other row. `show` draws the lines of the token {side, index}, or all
// lines for null.

import { isOfBrowser } from "../shared/arrow_keys.js";
import { focusedIn, handled, within } from "../shared/dom.js";

export function isolate(root, state, svg, tokens, flat, show) {
  const settle = () => show(state.pinned);
  const pin = (side, index, quietly = false) => {
    const same = state.pinned && state.pinned.side === side && state.pinned.index === index;
    state.pinned = same ? null : { side, index };
    if (!quietly) state.report(state.pinned);
    tokens.flat().forEach((t) => {
      const on = state.pinned && +t.dataset.side === state.pinned.side && +t.dataset.index === state.pinned.index;
      t.classList.toggle("pinned", Boolean(on));
      t.setAttribute("aria-pressed", String(Boolean(on)));
    });
    settle();
  };
  const go = (side, index) => {
    const next = tokens[side][within(index, 0, tokens[side].length - 1)];
    tokens.flat().forEach((t) => t.setAttribute("tabindex", -1));
    next.setAttribute("tabindex", 0);
    next.focus();
  };
  const along = flat ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const across = flat ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  tokens.forEach((row, side) => row.forEach((node, index) => {
    node.addEventListener("pointerenter", () => show({ side, index }));
    node.addEventListener("pointerleave", settle);
    node.addEventListener("focus", () => show({ side, index }));
    node.addEventListener("blur", settle);
    node.addEventListener("click", () => { pin(side, index); });
    node.addEventListener("keydown", (event) => {
      if (isOfBrowser(event)) return;
      if (event.key === "Enter" || event.key === " ") pin(side, index);
      else if (event.key === "Escape" && state.pinned) pin(state.pinned.side, state.pinned.index);
      else if (along.includes(event.key)) go(side, index + (event.key === along[1] ? 1 : -1));
      else if (across.includes(event.key)) go(event.key === across[1] ? 1 : 0, index);
      else return;
      handled(event);
    });
  }));
  const last = state.pinned && state.pinned.index < tokens[state.pinned.side].length ? state.pinned : null;
  state.pinned = null;
  const had = focusedIn(root)?.closest(".token");  // the token that had the focus gets it again
  const focused = had ? tokens[had.dataset.side]?.[had.dataset.index] : null;
  (focused ?? tokens[1][0])?.setAttribute("tabindex", 0);
  root.querySelector(".stage").replaceChildren(svg);
  if (last) pin(last.side, last.index, true); else settle();
  focused?.focus();
}
