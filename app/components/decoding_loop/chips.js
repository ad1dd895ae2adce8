// Places the chips of `side` in at most `most` lines. If they do not fit, those around the chip `side.kept` are placed;
// `hiddenBefore` and `hiddenAfter` count the others. `moreAt` is the place of the text that says how many are hidden
// after them.

import { _ } from "../shared/language.js";

const GAP = 4;

export function placedChips(side, width, size, most, measure) {
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
    const hiddenAfter = count - 1 - last;
    return { hiddenBefore: first, hiddenAfter, places, moreAt: hiddenAfter ? add(more(hiddenAfter)) : null, lines: line + 1 };
  };
  const whole = lay(0, count - 1);
  if (whole.lines <= most) return whole;
  let found = lay(side.kept, side.kept), grown = true;
  while (grown) {
    grown = false;
    for (const [a, b] of [[1, 0], [0, 1]]) {
      const first = found.hiddenBefore - a, last = count - 1 - found.hiddenAfter + b;
      if (first < 0 || last >= count) continue;
      const wider = lay(first, last);
      if (wider.lines <= most) { found = wider; grown = true; }
    }
  }
  return found;
}
