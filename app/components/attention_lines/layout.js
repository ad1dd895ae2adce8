// Computes where each token is: {x, y, w, h} of its box, and the point (ax, ay) where its lines end. Keys and queries
// are two rows, one above the other, if both fit the width; else two columns. In long columns the tokens are closer
// together, so that all of them are in view.

import { _ } from "../shared/language.js";

// Tried in this order for two rows: the font size in px, and whether "reads …" is shown.
const ROW_SIZES = [[20, true], [20, false], [18, true], [18, false], [16, false], [15, false]];
const READS_SIZE = 13;  // px, font size of "reads …", at most
const TALLEST = 1100;  // px, height of the columns at most, unless their font would be smaller than SMALLEST
const SMALLEST = 11;  // px

export function place(data, width, measure) {
  for (const [size, read] of ROW_SIZES) {
    const found = asRows(data, width, measure, size, read);
    if (found) return found;
  }
  return asColumns(data, width, measure);
}

function asRows({ keys, queries }, width, measure, size, read) {
  const widths = (side) => side.tokens.map((text, i) =>
    Math.max(measure(text, size), read && side.reads.length ? measure(_("reads {token}", { token: side.reads[i] }), READS_SIZE) : 0, 14) + 14);
  const sum = (row) => row.reduce((a, b) => a + b, 0);
  const rows = [widths(keys), widths(queries)];
  const gaps = rows.map((row) => (width - sum(row)) / Math.max(row.length - 1, 1));
  if (Math.min(...gaps) < 5) return null;
  const height = Math.round(size * 1.8);
  const top = 26, distance = Math.min(230, 130 + 6 * Math.max(...rows.map((row) => row.length)));
  const sides = rows.map((row, r) => {
    const gap = Math.min(gaps[r], 22);
    let x = (width - sum(row) - gap * (row.length - 1)) / 2;
    const y = r ? top + height + distance : top;
    return row.map((w) => {
      const box = { x, y, w, h: height, ax: x + w / 2, ay: r ? y : y + height };
      x += w + gap;
      return box;
    });
  });
  const below = top + 2 * height + distance + (read && queries.reads.length ? 40 : 20);
  return { flat: true, read, size, sides, height: below + 6, captions: [16, below] };
}

function asColumns({ keys, queries }, width, measure) {
  const usual = width < 500 ? 15 : 18, narrow = width < 640, top = narrow ? 46 : 30;
  const count = Math.max(keys.tokens.length, queries.tokens.length);
  const step = Math.min(usual + 14, Math.max(TALLEST / count, SMALLEST + 2));
  const size = Math.min(usual, Math.floor(step - 2)), reads = Math.min(READS_SIZE, size);
  const widest = (side) => Math.max(...side.tokens.map((text, i) =>
    measure(text, size) + (side.reads.length ? measure("  " + _("reads {token}", { token: side.reads[i] }), reads) : 0))) + 18;
  const room = width * 0.38;
  const half = [Math.min(widest(keys), room), Math.min(widest(queries), room)];
  const middle = Math.max(Math.min(width - half[0] - half[1], 420), width * 0.2);
  const left = Math.max((width - half[0] - half[1] - middle) / 2, 0);
  const h = step - Math.min(4, step / 8);
  const sides = [keys, queries].map((side, r) => {
    const offset = top + ((count - side.tokens.length) * step) / 2;
    return side.tokens.map((token, i) => {
      const x = r ? left + half[0] + middle : left, y = offset + i * step;
      return { x, y, w: half[r], h, ax: r ? x : x + half[0], ay: y + h / 2 };
    });
  });
  return { flat: false, tight: size < usual, size, reads, sides, height: top + count * step + 6, captions: narrow ? [14, 34] : [18, 18] };
}
