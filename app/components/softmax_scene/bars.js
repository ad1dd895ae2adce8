// One of the two panels: the scores as signed bars, and below them the weights that the softmax makes of them.

import { _ } from "../shared/language.js";
import { decimal, decimals, fixed } from "../shared/numbers.js";
import { cut, make } from "../shared/svg.js";

const LEFT = 34, TYPE = 14, GAP = 40, LONGEST = 62;  // LONGEST: of a name, which has room below the bars if it is slanted
export const ABOVE = 8;  // room above the scores: half of the height of the number at their upper end

// How high the parts of a panel are: the scores, the weights, and the names below them. Words may be slanted.
export function heightsOf(isNarrow, hasWords) {
  const [scores, weights] = isNarrow ? [64, 96] : [92, 148], names = isNarrow && !hasWords ? 30 : 60;
  return { scores, weights, all: ABOVE + scores + GAP + weights + names };
}

// Draws the panel, with `names` below the bars. Returns a function that shows scores and weights; `limit` is the score
// at which a bar has its full length.
export function barsOf(svg, width, names, { scores: SCORES, weights: WEIGHTS }, measure) {
  const place = (width - LEFT) / names.length, wide = Math.max(Math.min(0.78 * place, 44), 1);
  const zero = SCORES / 2, floor = SCORES + GAP + WEIGHTS;
  const middle = (i) => LEFT + (i + 0.5) * place;
  const rule = (y) => make("line", { class: "rule", x1: LEFT, x2: width, y1: y, y2: y }, svg);
  const small = (x, y, anchor, text) => make("text", { class: "small", x, y, "text-anchor": anchor, "dominant-baseline": "central" }, svg, text);
  rule(zero);
  rule(floor);
  const top = small(LEFT - 6, 0, "end", ""), bottom = small(LEFT - 6, 0, "end", "");
  small(LEFT - 6, zero, "end", "0");
  small(LEFT - 6, floor - WEIGHTS, "end", "1");
  small(LEFT - 6, floor, "end", "0");
  make("text", { class: "small", x: LEFT, y: SCORES + 12, "dominant-baseline": "central" }, svg, "softmax ↓");
  const every = Math.ceil(17 / place), slanted = names.some((name) => measure(name, TYPE) > 0.9 * place * every);
  const bars = names.map((name, i) => {
    const group = make("g", { class: "key" }, svg);
    const title = make("title", {}, group);
    const score = make("rect", { x: middle(i) - wide / 2, width: wide, rx: 1.5 }, group);
    const weight = make("rect", { class: "share", x: middle(i) - wide / 2, width: wide, rx: 1.5 }, group);
    if (i % every === 0) {
      const at = slanted ? { x: middle(i) + 4, y: floor + 14, "text-anchor": "end", transform: `rotate(-40 ${middle(i) + 4} ${floor + 14})` }
        : { x: middle(i), y: floor + 15, "text-anchor": "middle" };
      make("text", { class: "name", "dominant-baseline": "central", ...at }, group, cut(name, LONGEST, TYPE, measure));
    }
    return { group, title, score, weight };
  });
  const best = make("text", { class: "best", "text-anchor": "middle" }, svg);

  return (scores, weights, limit) => {
    const unit = (SCORES / 2 - 2) / limit, end = Number(limit.toFixed(limit < 10 ? 1 : 0)), written = decimals(limit, limit < 10 ? 1 : 0);
    [top.textContent, bottom.textContent] = [`+${written}`, `−${written}`];
    top.setAttribute("y", zero - end * unit);
    bottom.setAttribute("y", zero + end * unit);
    bars.forEach(({ group, title, score, weight }, i) => {
      const isForbidden = scores[i] === null, long = isForbidden ? 0 : Math.abs(scores[i]) * unit;
      group.classList.toggle("forbidden", isForbidden);
      score.setAttribute("class", `score ${scores[i] < 0 ? "negative" : "positive"}`);
      Object.assign(score.style, { y: `${scores[i] < 0 ? zero : zero - long}px`, height: `${long}px` });
      const high = weights[i] * WEIGHTS;
      Object.assign(weight.style, { y: `${floor - high}px`, height: `${high}px` });
      weight.dataset.weight = weights[i];
      title.textContent = isForbidden ? _("{token}: forbidden", { token: names[i] })
        : _("{token}: score {score}, weight {weight}", { token: names[i], score: fixed(scores[i], 3), weight: decimal(weights[i], 4) });
    });
    const first = weights.reduce((most, p, i) => (p > weights[most] ? i : most), 0), half = measure("0.000", 15) / 2;
    best.textContent = decimal(weights[first], 3);
    best.setAttribute("x", Math.min(Math.max(middle(first), LEFT + half), width - half));
    best.setAttribute("y", Math.max(floor - weights[first] * WEIGHTS - 6, SCORES + GAP - 3));
  };
}
