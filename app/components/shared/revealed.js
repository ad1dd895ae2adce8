// Whether the answer of the open question is revealed. The card of the question sets it; a lecture listens for changes.

const EVENT = "headlight-revealed";

export function announceRevealed(revealed) {
  if (window.headlightRevealed === revealed) return;
  window.headlightRevealed = revealed;
  window.dispatchEvent(new Event(EVENT));
}

export const isRevealed = () => window.headlightRevealed ?? false;

export const onRevealed = (listener) => window.addEventListener(EVENT, listener);
