// The arithmetic of a row: one weight is set, and the others share what is left in the same proportions as before.

import { percent } from "../shared/numbers.js";

const WHOLE = 10000;

// The row in which key `index` has this weight. If all other weights are 0, they share the rest in the proportions of
// `base`, or equally if those are 0, too.
export function withWeight(row, index, weight, base) {
  const others = (values) => values.reduce((sum, value, i) => (i === index ? sum : sum + value), 0);
  const shares = others(row) > 1e-9 ? row : others(base) > 1e-9 ? base : row.map(() => 1);
  const rest = others(shares);
  return row.map((_, i) => (i === index ? (rest ? weight : 1) : ((1 - weight) * shares[i]) / rest));
}

export const onlyOn = (row, index) => row.map((_, i) => Number(i === index));
export const uniform = (row) => row.map(() => 1 / row.length);
export const whole = (row) => row.map((weight) => Math.round(WHOLE * weight));
export const perCent = (weight) => percent(weight, 1, 0);
