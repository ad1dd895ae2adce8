// How many tokens of the translation the canvas has written so far: the line at the top shows no more than these.

const NEWS = "headlight-written";

export function announceWritten(count) {
  window.headlightWrittenCount = count;
  window.dispatchEvent(new Event(NEWS));
}

export const writtenCount = () => window.headlightWrittenCount ?? Infinity;

export function onWritten(listener) {
  window.addEventListener(NEWS, listener);
  return () => window.removeEventListener(NEWS, listener);
}
