// Where the tokens are: two rows, keys above and queries below, or on a narrow screen two columns. {x, y, w, h} of
// each, in px. A sentence that is too long for the width becomes as wide as it needs, and its frame scrolls. In a
// lecture nothing scrolls, see rows.js.

import { continuesWord } from "./message.js";
import { inSeveralRows } from "./rows.js";
import { inWords } from "../shared/token.js";

const SIZES = [1.2, 1.1, 1, 0.94, 0.88];  // rem, font size of a token
const BEFORE_A_CLASS = [...SIZES, 0.82];  // in a lecture, where a rem has more px, see lecture.css

// `under`: the texts and numbers below each query; `whole`: nothing may scroll.
export function placed(both, given) {
  if (given.narrow) return inColumns(both, given.width, given.rem, given.measure);
  const rows = inRows(both, given);
  return given.whole && rows.scrolls ? inSeveralRows(both, given) : rows;
}

function inRows({ keys, queries, writes }, { under, width, height, rem, measure, whole: isWhole }) {
  const wide = (texts, around) => Math.max(0, ...texts.map((text) => measure(text, 0.875 * rem) + around * rem));
  const numbers = under.map((each) => wide(each.numbers, 0.6)), below = under.map((each, i) => Math.max(wide(each.texts, 0.6), numbers[i]));
  const rows = (size, whole) => [keys, queries].map(({ tokens }, side) => {
    const widths = tokens.map((token, i) => Math.max(measure(inWords(token), size * rem) + 0.5 * rem * (size + 0.25), (side && writes ? 2.9 : 1.9) * rem, side ? (whole ? below : numbers)[i] ?? 0 : 0));
    const gaps = tokens.map((_, i) => (i === 0 ? 0 : continuesWord(tokens, i) ? 0.12 * rem : 0.4 * rem));
    return { widths, gaps, total: sum(widths) + sum(gaps) };
  });
  const fits = (whole) => (isWhole ? BEFORE_A_CLASS : SIZES).find((one) => rows(one, whole).every(({ total }) => total <= width));
  // `tight`: the texts below a token may be cut until a reader points at them.
  const roomy = fits(true), tight = roomy ? undefined : fits(false);
  const size = roomy ?? tight ?? 1, found = rows(size, !tight), needed = Math.max(...found.map(({ total }) => total));
  const inner = Math.max(width, needed), scrolls = needed > width + 1;
  const tall = 2.3 * rem, ys = [1.5 * rem, height - (writes ? 8.2 : 1.6) * rem - tall];
  const [above, row] = found.map(({ widths, gaps, total }, side) => {
    const between = gaps.filter((gap) => gap > 0.2 * rem).length;
    const extra = between ? Math.min((inner - total) / between, scrolls ? Infinity : 1.3 * rem) : 0;
    let x = (inner - total - extra * between) / 2;
    return widths.map((w, i) => {
      x += gaps[i] + (gaps[i] > 0.2 * rem ? extra : 0);
      const box = { x, y: ys[side], w, h: tall };
      x += w;
      return box;
    });
  });
  return { flat: true, width: inner, height, size, keys: above, queries: row, scrolls };
}

function inColumns({ keys, queries, writes }, width, rem, measure) {
  const most = Math.max(keys.tokens.length, queries.tokens.length);
  const pitch = 2.75 * rem;  // high enough for a finger
  const widest = (tokens) => Math.min(Math.max(...tokens.map((token) => measure(inWords(token), rem)), 1.5 * rem) + rem, 0.36 * width);
  const [left, right] = [widest(keys.tokens), widest(queries.tokens)], percents = writes ? 2.9 * rem : 0;
  const column = (count, x, w) => {
    const step = (pitch * most) / count;  // a shorter column is spread over the same height
    return Array.from({ length: count }, (_, i) => ({ x, y: 1.5 * rem + i * step + (step - pitch) / 2, w, h: pitch }));
  };
  return {
    flat: false, width, height: 1.6 * rem + pitch * most, size: 1, scrolls: false,
    keys: column(keys.tokens.length, 0, left), queries: column(queries.tokens.length, width - right - percents, right),
  };
}

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

// The curve from a key to a query.
export function curve(layout, query, key) {
  const a = layout.keys[key], b = layout.queries[query];
  if (layout.flat) {
    const [ax, ay, bx, by] = [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y], middle = (ay + by) / 2;
    return `M${ax.toFixed(1)},${ay}C${ax.toFixed(1)},${middle} ${bx.toFixed(1)},${middle} ${bx.toFixed(1)},${by}`;
  }
  const [ax, ay, bx, by] = [a.x + a.w, a.y + a.h / 2, b.x, b.y + b.h / 2], middle = (ax + bx) / 2;
  return `M${ax},${ay.toFixed(1)}C${middle},${ay.toFixed(1)} ${middle},${by.toFixed(1)} ${bx},${by.toFixed(1)}`;
}
