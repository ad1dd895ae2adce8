// What the picture shows, in one sentence.

import { exactOf, weightText } from "./numbers.js";
import { ofHead, plain, sides } from "./message.js";

const quoted = (token) => `“${plain(token)}”`;

// The places of the largest weights along one side, the largest first.
function strongest(view, here, focus) {
  const kind = view.message.kind[here.kind];
  const weights = exactOf(view, here.kind, here.layer, here.head) ?? ofHead(kind, here.layer, here.head);
  const along = focus.query !== null
    ? Array.from({ length: kind.keys }, (_, k) => [weights[focus.query * kind.keys + k], k])
    : Array.from({ length: kind.queries }, (_, q) => [weights[q * kind.keys + focus.key], q]);
  return along.filter(([weight]) => weight > 0).sort((a, b) => b[0] - a[0]).map(([, place]) => place);
}

export function sentence(view, here, focus) {
  const { keys, queries, writes } = sides(view.message, here.kind);
  const who = view.preview ? `Layer ${here.layer + 1}, head ${here.head + 1}` : "this head";
  const begin = (q) => (writes ? `While it writes ${quoted(queries.tokens[q])}, ${who}` : `For ${quoted(queries.tokens[q])}, ${who}`);
  const gives = (q, k) => weightText(view, here, q, k);
  if (focus.query !== null && focus.key !== null) {
    const [q, k] = [focus.query, focus.key], kind = view.message.kind[here.kind];
    if (!kind.mask[q * kind.keys + k]) return `${begin(q)} cannot attend to ${quoted(keys.tokens[k])}: it is masked.`;
    const given = gives(q, k);
    return given ? `${begin(q)} gives ${given} of its attention to ${quoted(keys.tokens[k])}.` : `${begin(q)} attends to ${quoted(keys.tokens[k])}.`;
  }
  const found = strongest(view, here, focus);
  if (focus.query !== null) {
    if (!found.length) return `${begin(focus.query)} attends to nothing.`;
    const given = gives(focus.query, found[0]), first = quoted(keys.tokens[found[0]]);
    if (!given) return `${begin(focus.query)} attends most to ${first}.`;
    const second = found[1] === undefined ? "" : gives(focus.query, found[1]);
    const more = second && parseFloat(second) >= 5 && !second.startsWith("<") ? `, and ${second} to ${quoted(keys.tokens[found[1]])}` : "";
    return `${begin(focus.query)} gives ${given} of its attention to ${first}${more}.`;
  }
  if (focus.key !== null) {
    if (!found.length) return `No query attends to ${quoted(keys.tokens[focus.key])}.`;
    const given = gives(found[0], focus.key), token = quoted(queries.tokens[found[0]]);
    const when = writes ? `while ${token} is written` : `from ${token}`;
    return `${quoted(keys.tokens[focus.key])} gets the most attention ${when}${given ? `: ${given}` : ""}.`;
  }
  if (view.preview) return `Preview of layer ${here.layer + 1}, head ${here.head + 1}. Click to choose it.`;
  const [point, click] = view.layout.flat ? ["Point at", "Click"] : ["Tap", "Tap"];
  const asks = `${point} a word: what does this head attend to${writes ? "" : " from it"}?`;
  return view.form === "matrix" ? `${asks} ${click} a cell: how is its weight computed?`
    : `${asks} ${click} an arc: how is its weight computed? ${click} two words: which heads link them?`;
}

export function alternativeText(view, here) {
  const kind = view.message.kind[here.kind], { keys, queries } = sides(view.message, here.kind);
  const rows = queries.tokens.slice(0, 40).map((token, query) => {
    const [place] = strongest(view, here, { query, key: null });
    return place === undefined ? `${plain(token)}: nothing` : `${plain(token)}: ${plain(keys.tokens[place])}`;
  });
  return `${kind.title}, layer ${here.layer + 1}, head ${here.head + 1}. The token that each query attends to most. ${rows.join("; ")}.`;
}

