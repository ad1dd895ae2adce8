// The step that is shown, in words and with the numbers of one key.

import { decimalsFor, weightText } from "./numbers.js";
import { fixed } from "../shared/numbers.js";

const quoted = (text) => `“${text}”`;

export const STEPS = ["Dot product q·k", "Divide by √d_k", "Softmax", "Weighted sum of values"];
export const SHORT_STEPS = ["q·k", "÷ √d_k", "Softmax", "Sum"];

export function sentenceOf(scene, step) {
  const { message, tensors, query, key } = scene;
  const [product, score, weight, reason] = ["products", "scores", "weights", "reasons"].map((name) => tensors.row(name, query)[key]);
  const reads = quoted(message.queries[query]);
  const asks = message.predicts.length ? `To write ${quoted(message.predicts[query])} after ${reads}, the query` : `The query of ${reads}`;
  const other = quoted(message.keys[key]), root = fixed(Math.sqrt(message.d_k), Number.isInteger(Math.sqrt(message.d_k)) ? 0 : 3);
  const [ofProducts, ofScores] = ["products", "scores"].map((name) => decimalsFor(tensors.largest[name]));
  if (step === 1) return `${asks} meets every key: multiply cell by cell and add up. With ${other}: ${fixed(product, ofProducts)}.`;
  if (step === 2) return `Divide by √${message.d_k} = ${root}, so that wide heads do not get larger scores: ${fixed(product, ofProducts)} / ${root} = ${fixed(score, ofScores)}.`;
  if (step === 3) {
    const about = reason ? `${other} is forbidden: −∞ in place of its score, weight 0` : `${other} gets ${weightText(weight, reason)}`;
    return `Softmax: e to the power of each score, divided by the sum over all allowed keys. The weights sum to 1; ${about}.`;
  }
  const share = weight ? `${weightText(weight, reason)} × the value of ${other} and what the others add` : `${other} adds nothing to it`;
  return `Multiply each value by its weight and add up: this is the output of the head. ${weight ? "It is " : ""}${share}.`;
}

// What a pointer is over: one dimension of the query and a key.
export function termOf(scene, i) {
  const { tensors, query, key, message } = scene, q = tensors.row("query", query)[i], k = tensors.row("key", key)[i];
  const [ofQuery, ofKey] = ["query", "key"].map((name) => decimalsFor(tensors.largest[name]));
  return `Dimension ${i} of ${quoted(message.keys[key])}: q ${fixed(q, ofQuery)} × k ${fixed(k, ofKey)} = ${fixed(q * k, 3)}`;
}

// A row in words, for a screen reader.
export function rowInWords(scene, key) {
  const { message, tensors, query } = scene;
  const [product, score, weight, reason] = ["products", "scores", "weights", "reasons"].map((name) => tensors.row(name, query)[key]);
  const allowed = reason ? `forbidden, ${message.reason_texts[reason]}` : `score ${fixed(score, decimalsFor(tensors.largest.scores))}`;
  return `key ${key + 1}, ${message.keys[key]}: q·k ${fixed(product, decimalsFor(tensors.largest.products))}, ${allowed}, weight ${weightText(weight, reason)}`;
}
