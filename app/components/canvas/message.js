// The message of the canvas, see app/figures/canvas_message.py: a header in JSON, then a byte for each weight, or two if it
// says more levels than 255, then one for each cell of the masks.

export function unpacked(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = 4 + length;
  const take = (count) => bytes.subarray(at, (at += count));
  for (const kind of header.kinds) {
    [kind.layers, kind.heads, kind.queries, kind.keys] = kind.shape;
    const count = kind.layers * kind.heads * kind.queries * kind.keys;
    kind.weights = header.levels > 255 ? new Uint16Array(take(2 * count).slice().buffer) : take(count);
  }
  for (const kind of header.kinds) kind.mask = take(kind.queries * kind.keys);
  header.kind = Object.fromEntries(header.kinds.map((kind) => [kind.name, kind]));
  return header;
}

// The bytes of one head, (Q, K).
export function ofHead(kind, layer, head) {
  const size = kind.queries * kind.keys, at = (layer * kind.heads + head) * size;
  return kind.weights.subarray(at, at + size);
}

// Who is on the two sides of a kind of attention. `writes`: the queries predict tokens, which have probabilities.
export function sides(message, name) {
  const { source, target } = message;
  if (name === "encoder") {
    return {
      keys: { tokens: source.tokens, role: "encoder", label: `${source.title}: what is attended to` },
      queries: { tokens: source.tokens, role: "encoder", label: `${source.title}: what attends` },
      writes: false,
    };
  }
  const queries = { tokens: target.tokens, role: "decoder", label: `${target.title}: what the decoder writes, how probable it found each token, and the runners-up` };
  const keys = name === "cross"
    ? { tokens: source.tokens, role: "encoder", label: `${source.title}: what the encoder has read` }
    : { tokens: target.reads, role: "decoder", label: `${target.title}: what the decoder reads` };
  return { keys, queries, writes: true };
}

// A token as it is written in the picture: without the mark of a word's beginning; a space shows that instead.
export const plain = (token) => (token.length > 1 && token.startsWith("▁") ? token.slice(1) : token);

// Whether a token goes on with the word of the token before it.
export const goesOn = (tokens, i) => i > 0 && !tokens[i].startsWith("▁") && /^\p{L}/u.test(tokens[i]) && !tokens[i - 1].startsWith("<");
