// The step that is shown, in words and with the numbers of one key.

import { decimalsFor, weightText } from "./numbers.js";
import { _ } from "../shared/language.js";
import { fixed } from "../shared/numbers.js";
import { quoted } from "../shared/token.js";

export const STEPS = [_("Dot product q·k"), _("Divide by √d_k"), _("Softmax"), _("Weighted sum of values")];
export const SHORT_STEPS = ["q·k", "÷ √d_k", _("Softmax"), _("Sum")];

export function sentenceOf(scene, step) {
  const { message, tensors, query, key } = scene;
  const [product, score, weight, reason] = ["products", "scores", "weights", "reasons"].map((name) => tensors.row(name, query)[key]);
  const reads = quoted(message.queries[query]);
  const other = quoted(message.keys[key]), root = fixed(Math.sqrt(message.d_k), Number.isInteger(Math.sqrt(message.d_k)) ? 0 : 3);
  const [ofProducts, ofScores] = ["products", "scores"].map((name) => decimalsFor(tensors.largest[name]));
  if (step === 1) {
    const values = { reads, other, product: fixed(product, ofProducts) };
    if (!message.predicts.length) return _("The query of {reads} is compared with every key: multiply cell by cell and add up. With {other}: {product}.", values);
    const written = quoted(message.predicts[query]);
    return _("To write {written} after {reads}, the query is compared with every key: multiply cell by cell and add up. With {other}: {product}.", { written, ...values });
  }
  if (step === 2) {
    const values = { d_k: message.d_k, root, product: fixed(product, ofProducts), score: fixed(score, ofScores) };
    return _("Divide by √{d_k} = {root}, so that wide heads do not get larger scores: {product} / {root} = {score}.", values);
  }
  const values = { other, weight: weightText(weight, reason) };
  if (step === 3) {
    if (message.edited[query]) return _("An edit changes the scores of this head before the softmax; {other} gets {weight}.", values);
    if (tensors.row("reasons", query).every(Boolean)) return _("This row is fully masked: all its weights are 0, and so is the output.");
    if (reason) return _("Softmax: e to the power of each score, divided by the sum over all allowed keys. The weights sum to 1; {other} is forbidden: −∞ in place of its score, weight 0.", values);
    return _("Softmax: e to the power of each score, divided by the sum over all allowed keys. The weights sum to 1; {other} gets {weight}.", values);
  }
  if (!weight) return _("Multiply each value by its weight and add up: this is the output of the head. {other} adds nothing to it.", values);
  return _("Multiply each value by its weight and add up: this is the output of the head. It is {weight} × the value of {other}, plus the other values times their weights.", values);
}

// What the pointer is over, in words: one dimension of the query and of a key.
export function termOf(scene, i) {
  const { tensors, query, key, message } = scene, q = tensors.row("query", query)[i], k = tensors.row("key", key)[i];
  const [ofQuery, ofKey] = ["query", "key"].map((name) => decimalsFor(tensors.largest[name]));
  const product = `q ${fixed(q, ofQuery)} × k ${fixed(k, ofKey)} = ${fixed(q * k, 3)}`;
  return _("Dimension {i} of {key}: {product}", { i, key: quoted(message.keys[key]), product });
}

// A row in words, for a screen reader.
export function rowInWords(scene, key) {
  const { message, tensors, query } = scene;
  const [product, score, weight, reason] = ["products", "scores", "weights", "reasons"].map((name) => tensors.row(name, query)[key]);
  const values = { number: key + 1, key: message.keys[key], product: fixed(product, decimalsFor(tensors.largest.products)), weight: weightText(weight, reason) };
  if (reason) return _("key {number}, {key}: q·k {product}, forbidden, {reason}, weight {weight}", { reason: message.reason_texts[reason], ...values });
  return _("key {number}, {key}: q·k {product}, score {score}, weight {weight}", { score: fixed(score, decimalsFor(tensors.largest.scores)), ...values });
}
