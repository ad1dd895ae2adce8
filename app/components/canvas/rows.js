// A long sentence in a lecture, where nothing scrolls: keys and queries take several rows each, in the largest type
// that fits. Tokens that still do not fit are left out at the end, and the labels say so.

import { continuesWord } from "./message.js";
import { inWords } from "../shared/token.js";

const TYPE = [1, 0.94, 0.88, 0.82, 0.77];  // rem, font sizes; in a lecture at 1280x720, 0.77 rem are 14 px
const HEIGHT = { token: 1.75, label: 1.25, arcs: 5 };  // rem, heights; the arcs have at least this height
const PITCH = { key: 2.9, query: 3, written: 3.5 };  // rem, from one row to the next, including what is below a token

export function inSeveralRows({ keys, queries, writes }, { width, height, rem, measure }) {
  const room = height / rem - 2 * HEIGHT.label - HEIGHT.arcs, pitch = writes ? PITCH.written : PITCH.query;
  const high = ([above, below]) => above.length * PITCH.key + below.length * pitch;
  const all = TYPE.map((size) => ({ size, rows: [broken(keys.tokens, size, 1.9), broken(queries.tokens, size, writes ? 2.4 : 1.9)] }));
  const { size, rows } = all.find((found) => high(found.rows) <= room) ?? all.at(-1);
  while (high(rows) > room && rows[0].length + rows[1].length > 2) {
    (rows[0].length > rows[1].length ? rows[0] : rows[1]).pop();
  }

  // Breaks the tokens into rows of about equal length. A word is broken only if it is longer than a row.
  function broken(tokens, size, least) {
    const words = [];
    tokens.forEach((token, i) => {
      const w = Math.min(width, Math.max(measure(inWords(token), size * rem) + 0.5 * rem * (size + 0.25), least * rem));
      if (continuesWord(tokens, i)) words.at(-1).push(w); else words.push([w]);
    });
    let best = filled(words, width);
    for (let narrower = 0.97 * width; narrower > width / 3; narrower *= 0.97) {
      const found = filled(words, narrower);
      if (found.length > best.length) break;
      best = found;
    }
    return best;
  }

  function filled(words, limit) {
    const found = [];
    let used = Infinity;
    for (const word of words) {
      const w = word.reduce((total, one) => total + one, 0) + 0.12 * rem * (word.length - 1);
      if (used + 0.4 * rem + w > limit) { found.push([]); used = -0.4 * rem; }
      word.forEach((one, i) => {
        const gap = i ? 0.12 * rem : 0.4 * rem;
        if (used + gap + one > width) { found.push([]); used = -gap; }  // a word that is longer than a row
        found.at(-1).push({ x: used + gap, w: one });
        used += gap + one;
      });
    }
    return found;
  }

  const boxes = (found, top, step) => found.flatMap((row, i) => {
    const shift = (width - row.at(-1).x - row.at(-1).w) / 2;
    return row.map(({ x, w }) => ({ x: x + shift, y: (top + i * step) * rem, w, h: HEIGHT.token * rem }));
  });
  const below = height / rem - HEIGHT.label - rows[1].length * pitch;
  return {
    flat: true, severalRows: true, width, height, size, scrolls: false,
    keys: boxes(rows[0], HEIGHT.label, PITCH.key), queries: boxes(rows[1], below, pitch),
  };
}
