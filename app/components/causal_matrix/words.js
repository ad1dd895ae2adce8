// What the picture says in words: the score of the pass, and the cell that is pointed at.

const quoted = (token) => `“${token.replace(/^▁/, "") || token}”`;
const signed = (value) => value.toFixed(2).replace("-", "−");
const right = ({ right }) => `${right.filter(Boolean).length} of ${right.length}`;

export function score({ free, passes: [masked, open], data }) {
  const now = free ? open : masked, size = data.reads.length;
  const first = `${free ? "Without" : "With"} the mask, ${right(now)} tokens are ranked first; log-probability ${signed(now.score)}`;
  if (!free) return `${first}.`;
  let ahead = 0;
  for (let q = 0; q < size; q++) for (let k = q + 1; k < size; k++) ahead += now.weights[q * size + k];
  return `${first} (with it ${right(masked)}, ${signed(masked.score)}). ${Math.round((100 * ahead) / size)}% of this head's attention is on later tokens.`;
}

export function said({ free, query, key, passes, data }) {
  const size = data.reads.length, { mask, weights } = passes[Number(free)];
  const row = `Row ${query + 1} reads ${quoted(data.reads[query])} and predicts ${quoted(data.predicts[query])}.`;
  const token = quoted(data.reads[key]), weight = weights[query * size + key].toFixed(3);
  if (!mask[query * size + key]) {
    if (key <= query) return `${row} It must not attend to ${token}, which is outside its attention window.`;
    return `${row} It must not attend to ${token}: ` + (key === query + 1 ? "that is the token it is to predict." : "when this row is computed, that is not written yet.");
  }
  const attends = `${row} It attends to ${key === query ? "itself" : token} with weight ${weight}`;
  if (key <= query) return `${attends}.`;
  return `${attends}: ` + (key === query + 1 ? "that is the answer. When it writes alone, it is not there." : "a token that is not written yet when the model writes alone.");
}
