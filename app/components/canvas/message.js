// The message of the canvas, see app/figures/canvas_message.py: a header in JSON, then one byte per weight (two if
// `levels` is above 255), then one byte per cell of the masks. A kind of attention has one mask for all heads; with
// `ownMasks`, it has one for each head.

import { _ } from "../shared/language.js";
import { inWords, isControl } from "../shared/token.js";

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
  for (const kind of header.kinds) kind.masks = take((kind.ownMasks ? kind.layers * kind.heads : 1) * kind.queries * kind.keys);
  header.kind = Object.fromEntries(header.kinds.map((kind) => [kind.name, kind]));
  return header;
}

// The weights of one head as whole numbers from 0 to `message.levels`, (Q, K).
export function ofHead(kind, layer, head) {
  const size = kind.queries * kind.keys, at = (layer * kind.heads + head) * size;
  return kind.weights.subarray(at, at + size);
}

// The mask of one head, (Q, K): whether a query may attend to a key.
export function maskOf(kind, layer, head) {
  const size = kind.queries * kind.keys, at = kind.ownMasks ? (layer * kind.heads + head) * size : 0;
  return kind.masks.subarray(at, at + size);
}

// Tokens, role and label of the queries and keys of a kind of attention. `axis` is the title of a side in the matrix,
// `names` are the titles of rows if there is room for more than the token, and `brief` is the label if no runners-up
// are shown. `writes`: whether the queries predict tokens.
export function sides(message, name) {
  const { source, target } = message;
  if (name === "encoder") {
    return {
      keys: { tokens: source.tokens, role: "encoder", label: _("{language}: what is attended to", { language: source.title }), axis: _("attended to") },
      queries: { tokens: source.tokens, role: "encoder", label: _("{language}: what attends", { language: source.title }), axis: _("attends") },
      writes: false,
    };
  }
  const label = _("{language}: what the decoder writes. Below each token, the next most probable", { language: target.title });
  const brief = _("{language}: what the decoder writes, with its probability", { language: target.title });
  const queries = { tokens: target.tokens, role: "decoder", label, brief, axis: _("writes") };
  if (name === "cross") {
    const read = _("{language}: what the encoder has read", { language: source.title });
    return { keys: { tokens: source.tokens, role: "encoder", label: read, axis: _("source") }, queries, writes: true };
  }
  // The keys are the tokens that are read: the diagonal is the token that a row reads, not the token that it writes.
  const names = target.tokens.map((token, i) => `${inWords(target.reads[i])} → ${inWords(token)}`);
  const keys = { tokens: target.reads, role: "decoder", label: _("{language}: what the decoder reads", { language: target.title }), axis: _("reads") };
  return { keys, queries: { ...queries, names }, writes: true };
}

// Whether a token continues the word of the token before it.
export const continuesWord = (tokens, i) => i > 0 && !tokens[i].startsWith("▁") && /^\p{L}/u.test(tokens[i]) && !isControl(tokens[i - 1]);

// Forgets heads that the model of this message does not have: the last message may have been of a larger model.
export function forgetMissing(view, opening) {
  const has = ({ kind, layer, head }) => { const found = view.message.kind[kind]; return Boolean(found) && layer < found.layers && head < found.heads; };
  if (!has(view.here)) view.here = { ...opening };
  for (const [kind, head] of Object.entries(view.last)) if (!has({ kind, ...head })) delete view.last[kind];
}
