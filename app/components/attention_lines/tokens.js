// The two rows of tokens as SVG, each in its box; returns their groups: [keys, queries].

import { cut, make, write } from "../shared/svg.js";

export function drawTokens(svg, data, layout, width, measure) {
  const tokens = [[], []];
  [data.keys, data.queries].forEach((side, r) => {
    const edge = layout.sides[r][0];
    const anchor = layout.flat ? width / 2 : r ? edge.x + edge.w : edge.x;
    const aligned = layout.flat ? "middle" : r ? "end" : "start";
    make("text", { class: "caption", x: anchor, y: layout.captions[r], "text-anchor": aligned, style: `fill:${side.color}` }, svg,
      `${side.title} · ${r ? (side.reads.length ? "queries, predict" : "queries") : "keys"}`);
    side.tokens.forEach((text, i) => {
      const box = layout.sides[r][i];
      const read = side.reads.length ? `, reads ${side.reads[i]}` : "";
      const group = make("g", {
        class: "token", role: "button", tabindex: -1, "data-side": r, "data-index": i, "aria-pressed": "false",
        "aria-label": `${i + 1} ${text}${read}`,
      }, svg);
      make("title", {}, group, `${i + 1} ${text}${read}`);
      make("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: Math.min(7, box.h / 4), fill: side.color }, group);
      if (layout.flat) lyingToken(group, box, layout, text, side.reads[i]);
      else standingToken(group, box, layout, text, side.reads[i], r, measure);
      tokens[r].push(group);
    });
  });
  return tokens;
}

function lyingToken(group, box, layout, text, reads) {
  const place = { x: box.ax, "text-anchor": "middle" };
  write(make("text", { ...place, y: box.y + box.h * 0.69, style: `font-size:${layout.size}px` }, group), text);
  if (layout.read && reads !== undefined) write(make("text", { class: "reads", ...place, y: box.y + box.h + 16 }, group), `reads ${reads}`);
}

function standingToken(group, box, layout, text, reads, r, measure) {
  const { size } = layout;
  const room = reads === undefined ? 0 : Math.min(measure("  reads " + reads, layout.reads), (box.w - 16) * 0.6);
  const label = make("text", {
    x: r ? box.x + 8 : box.x + box.w - 8, y: box.y + box.h / 2 + size * 0.34, "text-anchor": r ? "start" : "end", style: `font-size:${size}px`,
  }, group);
  write(label, cut(text, box.w - 16 - room, size, measure));
  if (reads !== undefined) write(make("tspan", { class: "reads", dx: 8, style: `font-size:${layout.reads}px` }, label), cut("reads " + reads, room, layout.reads, measure));
}
