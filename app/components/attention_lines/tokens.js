// The two rows of tokens as SVG, each in its box; returns their groups: [keys, queries].

import { _ } from "../shared/language.js";
import { cut, make, write } from "../shared/svg.js";

export function drawTokens(svg, data, layout, width, measure) {
  const tokens = [[], []];
  [data.keys, data.queries].forEach((side, r) => {
    const edge = layout.sides[r][0];
    const anchor = layout.flat ? width / 2 : r ? edge.x + edge.w : edge.x;
    const aligned = layout.flat ? "middle" : r ? "end" : "start";
    make("text", { class: "caption", x: anchor, y: layout.captions[r], "text-anchor": aligned, style: `fill:${side.color}` }, svg,
      r ? (side.reads.length ? _("{side} · queries, predict", { side: side.title }) : _("{side} · queries", { side: side.title })) : _("{side} · keys", { side: side.title }));
    side.tokens.forEach((text, i) => {
      const box = layout.sides[r][i];
      const place = i + 1, read = side.reads[i];
      const label = side.reads.length ? _("{place} {token}, reads {read}", { place, token: text, read }) : `${place} ${text}`;
      const group = make("g", {
        class: "token", role: "button", tabindex: -1, "data-side": r, "data-index": i, "aria-pressed": "false",
        "aria-label": label,
      }, svg);
      make("title", {}, group, label);
      make("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: Math.min(7, box.h / 4), fill: side.color }, group);
      if (layout.flat) horizontalToken(group, box, layout, text, side.reads[i]);
      else verticalToken(group, box, layout, text, side.reads[i], r, measure);
      tokens[r].push(group);
    });
  });
  return tokens;
}

function horizontalToken(group, box, layout, text, reads) {
  const place = { x: box.ax, "text-anchor": "middle" };
  write(make("text", { ...place, y: box.y + box.h * 0.69, style: `font-size:${layout.size}px` }, group), text);
  if (layout.read && reads !== undefined) write(make("text", { class: "reads", ...place, y: box.y + box.h + 16 }, group), _("reads {token}", { token: reads }));
}

function verticalToken(group, box, layout, text, reads, r, measure) {
  const { size } = layout, read = reads === undefined ? "" : _("reads {token}", { token: reads });
  const room = reads === undefined ? 0 : Math.min(measure(`  ${read}`, layout.reads), (box.w - 16) * 0.6);
  const label = make("text", {
    x: r ? box.x + 8 : box.x + box.w - 8, y: box.y + box.h / 2 + size * 0.34, "text-anchor": r ? "start" : "end", style: `font-size:${size}px`,
  }, group);
  write(label, cut(text, box.w - 16 - room, size, measure));
  if (reads !== undefined) write(make("tspan", { class: "reads", dx: 8, style: `font-size:${layout.reads}px` }, label), cut(read, room, layout.reads, measure));
}
