// What the picture says in words: the score of the pass, the attention ahead, and the cell that is pointed at.

import { fixed } from "../shared/numbers.js";
import { quoted } from "../shared/token.js";

const right = ({ right }) => `${right.filter(Boolean).length} of ${right.length}`;

export function score({ free, passes: [masked, open] }) {
  const pass = free ? open : masked;
  const said = `${free ? "Without" : "With"} the mask: ${right(pass)} tokens ranked first, log-probability ${fixed(pass.score, 2)}`;
  return free ? `${said} (with it: ${right(masked)}, ${fixed(masked.score, 2)}).` : `${said}.`;
}

// Whether the second pass may attend to anything that the first may not.
export const leaks = ({ passes: [masked, open] }) => open.mask.some((may, at) => may && !masked.mask[at]);

// The share of the head's attention that is on later tokens.
export function ahead({ passes: [, open], data }) {
  const size = data.reads.length;
  let sum = 0;
  for (let q = 0; q < size; q++) for (let k = q + 1; k < size; k++) sum += open.weights[q * size + k];
  return `${Math.round((100 * sum) / size)}% of its attention is on later tokens`;
}

export function said({ free, query, key, passes, data }) {
  const size = data.reads.length, at = query * size + key, { mask, weights } = passes[Number(free)];
  const row = `Row ${query + 1} reads ${quoted(data.reads[query])}, predicts ${quoted(data.predicts[query])}`;
  const token = quoted(data.reads[key]), isAnswer = key === query + 1;
  if (!mask[at]) {
    const why = passes[0].mask[at] ? "because of an edit" : key <= query ? "outside its attention window" : isAnswer ? "the answer" : "which is not written yet";
    return `${row}; it cannot attend to ${token}, ${why}.`;
  }
  const attends = `${row}; weight ${weights[at].toFixed(3)} on ${key === query ? "itself" : token}`;
  if (key <= query) return `${attends}.`;
  return `${attends}${isAnswer ? ", the answer" : ""}. When the model writes, this token does not exist yet.`;
}
