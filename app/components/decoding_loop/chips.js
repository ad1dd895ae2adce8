// Places chips in at most `most` lines. If they do not fit, those around the chip `kept` are shown, and the others are
// counted.

import { _ } from "../shared/language.js";

const GAP = 4;

export function chips(side, width, size, most, measure) {
  const widths = side.tokens.map((token) => Math.min(measure(token, size) + 14, width));
  const count = widths.length, more = (n) => (n ? measure(_("… {count} more", { count: n }), 13) + 12 : 0);
  const lay = (first, last) => {
    const places = [];
    let x = more(first), line = 0;
    const add = (w) => {
      if (x && x + w > width) { line += 1; x = 0; }
      const place = { x, line, w };
      x += w + GAP;
      return place;
    };
    for (let i = first; i <= last; i++) places.push({ i, ...add(widths[i]) });
    return { first, left: count - 1 - last, places, end: last < count - 1 ? add(more(count - 1 - last)) : null, lines: line + 1 };
  };
  const whole = lay(0, count - 1);
  if (whole.lines <= most) return whole;
  let found = lay(side.kept, side.kept), grown = true;
  while (grown) {
    grown = false;
    for (const [a, b] of [[1, 0], [0, 1]]) {
      const first = found.first - a, last = found.first + found.places.length - 1 + b;
      if (first < 0 || last >= count) continue;
      const wider = lay(first, last);
      if (wider.lines <= most) { found = wider; grown = true; }
    }
  }
  return found;
}
