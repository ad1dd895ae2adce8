// The tensors of one head, as they arrive, and how their numbers are written.

import { decoded } from "../shared/arrays.js";
import { decimal } from "../shared/numbers.js";

const largestOf = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;

// `row(name, i)` is row i of an array. `largest` has the largest absolute value of some arrays; their colours end
// there, and their decimals depend on it. `low` is the smallest product, at most 0; `span` is the range of the
// products, for their bars.
export function tensorsOf(message) {
  const arrays = Object.fromEntries(Object.entries(message.arrays).map(([name, packed]) => [name, decoded(packed).values]));
  const wide = { query: message.d_k, key: message.d_k, value: message.d_k, context: message.d_k };
  const row = (name, i) => arrays[name].subarray(i * (wide[name] ?? message.keys.length), (i + 1) * (wide[name] ?? message.keys.length));
  const largest = Object.fromEntries(["query", "key", "value", "products", "scores"].map((name) => [name, largestOf(arrays[name])]));
  const low = Math.min(0, ...arrays.products), high = Math.max(0, ...arrays.products);
  return { row, largest, low, span: high - low || 1 };
}

// q_i * k_i of each dimension; their sum is the dot product.
export const termsOf = (q, k) => Float64Array.from(q, (value, i) => value * k[i]);

export const weighted = (value, weight) => Float64Array.from(value, (number) => weight * number);

// How many decimals the numbers of an array have, by the largest of them: 54.15, 9.572, 0.3804.
export const decimalsFor = (largest) => Math.min(Math.max(3 - Math.floor(Math.log10(largest)), 0), 5);

export const weightText = (weight, isForbidden) => (isForbidden ? "0" : decimal(weight, 3));

export const strongestOf = (weights) => weights.reduce((best, weight, i) => (weight > weights[best] ? i : best), 0);
