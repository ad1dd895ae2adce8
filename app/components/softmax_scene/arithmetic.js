// Computes the weights from scores, and from the weights the effective number of keys and the norm of the softmax's
// Jacobian. Keys that the mask forbids have the score null.

export function softmax(scores) {
  const largest = scores.reduce((most, score) => (score === null ? most : Math.max(most, score)), -Infinity);
  const powers = scores.map((score) => (score === null ? 0 : Math.exp(score - largest)));
  const sum = powers.reduce((a, b) => a + b, 0) || 1;
  return powers.map((power) => power / sum);
}

// e to the entropy: 16 for sixteen equal weights, 1 for a single one.
export const spreadOf = (weights) => Math.exp(-weights.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0));

// How much the weights move with the scores: the Frobenius norm of the Jacobian diag(p) - p p^T.
export function gradientOf(weights) {
  const squares = weights.reduce((sum, p) => sum + p * p, 0), cubes = weights.reduce((sum, p) => sum + p ** 3, 0);
  return Math.sqrt(Math.max(squares - 2 * cubes + squares * squares, 0));
}

export const divided = (products, d_k) => products.map((product) => (product === null ? null : product / Math.sqrt(d_k)));
