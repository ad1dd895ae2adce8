// Where the columns of the scene are, in px of a page with a font size of 16 px: all columns side by side if there is
// room; on a narrow screen only the columns of one step.

const LABEL = 118, NUMBER = 66, WEIGHT = 64, GAP = 16;
const NARROW = 680;

// Each column has x and w. For `product`, `score` and `weight` these are the place of the bars; the numbers beside the
// bars end at `number`.
export function columnsOf(width, step, d_k) {
  return width < NARROW ? ofOneStep(width, step, d_k) : besideEachOther(width, d_k);
}

function besideEachOther(width, d_k) {
  const room = width - LABEL - 2 * NUMBER - WEIGHT - 6 * GAP - 10;
  const product = 0.17 * room, score = Math.max(product / Math.sqrt(d_k), 10), weight = 0.14 * room;
  const strip = (room - product - score - weight) / 2;
  const columns = { label: { x: 0, w: LABEL } };
  let x = LABEL + 10;
  columns.key = { x, w: strip };
  x += strip;
  columns.product = { number: x + NUMBER, x: x + NUMBER + GAP / 2, w: product };
  x += NUMBER + GAP / 2 + product + GAP;
  columns.score = { number: x + NUMBER, x: x + NUMBER + GAP / 2, w: score };
  x += NUMBER + GAP / 2 + score + 2 * GAP;
  columns.weight = { x, w: weight, number: x + weight + WEIGHT };
  x += weight + WEIGHT + GAP;
  columns.value = { x, w: width - x };
  columns.steps = [
    { x: columns.key.x, w: columns.product.x + product - columns.key.x },
    { x: columns.score.number - NUMBER + GAP / 2, w: NUMBER + score + GAP / 2 },
    { x: columns.weight.x - GAP / 2, w: weight + WEIGHT + GAP / 2 },
    { x: columns.value.x, w: columns.value.w },
  ];
  return columns;
}

function ofOneStep(width, step, d_k) {
  const label = Math.min(92, 0.27 * width), x = label + 8, room = width - x;
  const columns = { label: { x: 0, w: label }, isNarrow: true };
  columns.steps = [0, 1, 2, 3].map((i) => ({ x: (i * width) / 4, w: width / 4 - 4 }));
  if (step === 1) {
    const bars = 0.22 * room;
    columns.key = { x, w: room - bars - NUMBER - 4 };
    columns.product = { number: width - bars - 6, x: width - bars, w: bars };
  } else if (step === 2) {
    const bars = (room - 2 * NUMBER - 2 * GAP) / (1 + 1 / Math.sqrt(d_k));
    columns.product = { number: x + NUMBER - 8, x: x + NUMBER, w: bars };
    columns.score = { number: x + NUMBER + bars + GAP + NUMBER, x: x + 2 * NUMBER + bars + 1.5 * GAP, w: bars / Math.sqrt(d_k) };
  } else if (step === 3) {
    columns.score = { number: x + NUMBER - 8, x: 0, w: 0 };
    columns.weight = { x: x + NUMBER + GAP, w: room - NUMBER - GAP - WEIGHT, number: width };
  } else {
    columns.weight = { x: 0, w: 0, number: x + WEIGHT - 8 };
    columns.value = { x: x + WEIGHT + 4, w: room - WEIGHT - 4 };
  }
  return columns;
}
