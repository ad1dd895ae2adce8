// The translation appears token by token, with its arcs, in at most three seconds. A click on the canvas shows all of
// it at once, and so does a key that no part of the canvas uses. This happens once for a sentence and after a click on
// "Write again", but not if the browser asks for less motion. The line with the translation at the top shows the same
// tokens.

import { prefersReducedMotion } from "../shared/dom.js";
import { announceWritten } from "../shared/written.js";

const LONGEST = 3000, USUAL = 240;  // ms: at most for all tokens together, and for one token

export function writeItself(view) {
  const count = view.message.target.tokens.length;
  stopWriting(view);
  if (prefersReducedMotion()) { view.update(); return; }
  view.isWriting = true;
  setWritten(view, 0);
  const pace = Math.min(USUAL, LONGEST / (count + 1));
  const next = () => {
    if (!view.root.isConnected) { stopWriting(view); return; }  // another page is open
    setWritten(view, view.written + 1);
    if (view.written > count) { stopWriting(view); view.update(); return; }
    view.update();
    view.timer = setTimeout(next, pace);
  };
  view.update();
  view.timer = setTimeout(next, pace);
}

export function stopWriting(view) {
  clearTimeout(view.timer);
  view.isWriting = false;
  setWritten(view, Infinity);
}

function setWritten(view, count) {
  view.written = count;
  announceWritten(count);
}

// Whether this window shows this translation of this sentence for the first time. Only tokens are compared, because the
// numbers of the stored first picture may differ in the last digit from those of this machine.
export function isNew(message) {
  const known = (window.headlightWritten ??= new Set());
  const name = JSON.stringify([message.source.tokens, message.target.tokens]);
  const found = !known.has(name);
  known.add(name);
  return found;
}
