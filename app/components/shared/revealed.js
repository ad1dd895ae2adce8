// Whether the answer of the question that is on the screen is revealed: the card of the question tells it, a lecture hears it.

const NEWS = "headlight-revealed";

export function tellRevealed(revealed) {
  if (window.headlightRevealed === revealed) return;
  window.headlightRevealed = revealed;
  window.dispatchEvent(new Event(NEWS));
}

export const isRevealed = () => window.headlightRevealed ?? false;

export const onRevealed = (listener) => window.addEventListener(NEWS, listener);
