// The two distributions in plain words.

import { _ } from "../shared/language.js";
import { decimal, decimals, fixed, grouped } from "../shared/numbers.js";

const two = (value) => (value < 0.005 ? _("less than 0.01") : decimals(value, 2));

// `keys`: how many keys are allowed.
export function factsOf({ keys, spread, gradient }) {
  if (keys === 0) return [_("This row is fully masked: its weights are all 0."), ""];
  if (keys === 1) return [_("Only one key is allowed."), _("Gradient {gradient}.", { gradient: two(gradient) })];
  return [_("In effect, the query attends to {spread} of {keys} keys.", { spread: decimals(spread, 1), keys }), reacts(gradient)];
}

function reacts(gradient) {
  const given = { gradient: two(gradient) };
  if (gradient < 0.02) return _("Gradient {gradient}: the weights no longer react to the scores.", given);
  if (gradient < 0.12) return _("Gradient {gradient}: the weights hardly react to the scores.", given);
  return _("Gradient {gradient}: the weights react to the scores.", given);
}

export function sentenceOf({ d_k, isRandom, head, word, largest, weights }) {
  const root = Math.sqrt(d_k), given = { d_k, root: Number.isInteger(root) ? root : decimals(root, 2) };
  const [without, divided] = weights.map((each) => decimal(Math.max(...each), 3));
  const largestWeights = _("Without the division, the largest weight is {without}; with it, {divided}.", { without, divided });
  if (largest === -Infinity) return largestWeights;  // the row is fully masked
  return `${isRandom ? sumOf(given) : scoreOf(head, word, largest, given)} ${largestWeights}`;
}

function sumOf({ d_k, root }) {
  if (d_k === 1) return _("A score adds 1 product of random numbers, so its size is about √1 = 1.");
  const count = grouped(d_k);
  return _("A score adds {count} products of random numbers, so its size is about √{d_k} = {root}.", { count, d_k, root });
}

function scoreOf(head, word, largest, { d_k, root }) {
  const given = { head, word, largest: fixed(largest, 1), d_k, root };
  return _("{head}, the query of “{word}”: its largest score is {largest} before the division by √{d_k} = {root}.", given);
}
