// Where the nodes of a search tree are, in px. Usually a column has the width of its numbers, and a tree that is wider
// than the page scrolls. In a lecture nothing scrolls: the columns share the width of the window. Columns that do not
// fit are left out, beginning with those far from the chosen node, and so are the lowest nodes of a column. `first`,
// `last` and `leftOut` say which columns are shown and how many of their nodes are left out.

const USUAL = { w: 8.625, h: 2.625, gapX: 2.875, gapY: 0.625 }, TOP = 2.125, EDGE = 0.375;  // rem
const NARROW = { h: 3.75, gapX: 1.1, gapY: 0.45 }, LEAST = 4.1;  // rem: a narrow node, and its least width

// `room`: {width, height} in px in a lecture, else null. `numbers`: width of the longest line of numbers in a node, in
// px.
export function placed(nodes, chosen, { rem, room, numbers }) {
  const steps = Math.max(...nodes.map((node) => node.step)), rows = Math.max(...nodes.map((node) => node.row)) + 1;
  const size = room ? fitted(steps + 1, room.width / rem, numbers / rem) : { ...USUAL, columns: steps + 1, isNarrow: false };
  const middle = nodes.find((node) => node.id === chosen)?.step ?? 0;
  const first = Math.max(0, Math.min(middle - Math.floor(size.columns / 2), steps + 1 - size.columns)), last = first + size.columns - 1;
  const pitch = { x: size.w + size.gapX, y: size.h + size.gapY };
  const most = room ? Math.max(1, Math.floor((room.height / rem - TOP + size.gapY) / pitch.y)) : rows;
  const shown = nodes.filter(({ step, row }) => step >= first && step <= last && row < most);
  const inColumns = nodes.filter(({ step }) => step >= first && step <= last);
  const highest = Math.max(...shown.map((node) => node.row)) + 1;
  const px = (length) => length * rem;
  return {
    shown, first, last, steps, leftOut: inColumns.length - shown.length, isNarrow: size.isNarrow,
    box: { w: px(size.w), h: px(size.h) },
    x: ({ step }) => px(EDGE + (step - first) * pitch.x),
    y: ({ row }) => px(TOP + row * pitch.y),
    width: px(2 * EDGE + size.columns * pitch.x - size.gapX), height: px(TOP + highest * pitch.y),
  };
}

// The size of the nodes and the number of columns that fit into `width`, in rem.
function fitted(columns, width, numbers) {
  const inner = width - 2 * EDGE, wide = (inner + USUAL.gapX / 2) / columns - USUAL.gapX / 2;
  const needed = Math.max(numbers + 1.2, 7);
  if (wide >= needed) return { ...USUAL, w: Math.min(wide, USUAL.w * 1.5), gapX: USUAL.gapX / 2, columns, isNarrow: false };
  const fit = Math.min(columns, Math.floor((inner + NARROW.gapX) / (LEAST + NARROW.gapX)));
  return { ...NARROW, w: (inner + NARROW.gapX) / fit - NARROW.gapX, columns: fit, isNarrow: true };
}
