// The two distributions in plain words.

import { fixed } from "../shared/numbers.js";

const two = (value) => (value < 0.005 ? "less than 0.01" : value.toFixed(2));

export function factsOf(weights, { spread, gradient }) {
  const keys = weights.filter((p) => p > 0).length;
  const sure = keys === 1 ? "There is only one key." : `In effect it attends to ${spread.toFixed(1)} of ${keys} keys.`;
  const reacts = keys === 1 ? "" : gradient < 0.02 ? "the weights no longer react to the scores" : gradient < 0.12 ? "the weights hardly react to the scores" : "the weights react to the scores";
  return [sure, reacts ? `Gradient ${two(gradient)}: ${reacts}.` : `Gradient ${two(gradient)}.`];
}

export function sentenceOf({ d_k, isRandom, whose, largest, weights }) {
  const root = Math.sqrt(d_k), written = Number.isInteger(root) ? root : root.toFixed(2);
  const [without, with_] = weights.map((each) => Math.max(...each).toFixed(3));
  const start = isRandom
    ? `A score adds ${d_k === 1 ? "1 product" : `${d_k.toLocaleString("en")} products`} of random numbers, so its size is about √${d_k} = ${written}.`
    : `${whose}: its largest score is ${fixed(largest, 1)} before the division by √${d_k} = ${written}.`;
  return `${start} Without the division, the largest weight is ${without}; with it, ${with_}.`;
}
