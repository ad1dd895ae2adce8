// The translation writes itself: its tokens and their arcs appear one after the other, in at most three seconds. Any key or
// click shows all of it. Once for a sentence, again on demand, and never where less motion is wanted. The line at the top
// shows as much of it.

import { isCalm } from "../shared/dom.js";
import { tellWritten } from "../shared/written.js";

const LONGEST = 3000, USUAL = 240;  // ms, of all and of one token

export function writeItself(view) {
  const count = view.message.target.tokens.length;
  stopWriting(view);
  if (isCalm()) { view.update(); return; }
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
  tellWritten(count);
}

// Whether this is the first time that this browser window shows this translation of this sentence: the stored first picture,
// and the same from the model of this machine, may differ in the last digit of a number.
export function isNew(message) {
  const known = (window.headlightWritten ??= new Set());
  const name = JSON.stringify([message.source.tokens, message.target.tokens]);
  const found = !known.has(name);
  known.add(name);
  return found;
}
