// The arrows between the parts of the frame; the last one leads from the distribution back into the loop.

import { _ } from "../shared/language.js";
import { make } from "../shared/svg.js";

const TIP = 6;

function arrow(svg, points, color, direction) {
  const [x, y] = points[points.length - 1];
  make("path", { d: `M${points.map((point) => point.join(",")).join(" L")}`, style: `color:${color}` }, svg);
  const corners = { right: [[-TIP, -TIP], [-TIP, TIP]], down: [[-TIP, -TIP], [TIP, -TIP]], up: [[-TIP, TIP], [TIP, TIP]] }[direction];
  const tip = [[0, 0], ...corners].map(([dx, dy]) => `${x + dx},${y + dy}`).join(" L");
  make("path", { class: "tip", d: `M${tip} z`, style: `color:${color}` }, svg);
}

export function drawPaths(parts) {
  const svg = parts.paths, frame = parts.frame;
  if (parts.root.classList.contains("narrow") || !parts.scene.clientWidth) { svg.replaceChildren(); return; }
  const origin = parts.scene.getBoundingClientRect();
  const box = (node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return { left: left - origin.left, top: top - origin.top, right: right - origin.left, bottom: bottom - origin.top, x: (left + right) / 2 - origin.left, y: (top + bottom) / 2 - origin.top };
  };
  const [source, encoder, written, decoder, next] = [parts.source, parts.encoder, parts.written, parts.decoder, parts.distribution].map(box);
  const { colors } = frame, gap = 4;
  svg.replaceChildren();
  arrow(svg, [[source.right + gap, encoder.y], [encoder.left - gap, encoder.y]], colors.encoder, "right");
  arrow(svg, [[written.right + gap, decoder.y], [decoder.left - gap, decoder.y]], colors.decoder, "right");
  arrow(svg, [[encoder.x, encoder.bottom + gap], [encoder.x, decoder.top - gap]], colors.attention, "down");
  arrow(svg, [[decoder.right + gap, decoder.y], [next.left - gap, decoder.y]], colors.decoder, "right");
  make("text", { x: encoder.x + 9, y: (encoder.bottom + decoder.top) / 2 + 5, style: `color:${colors.attention}` }, svg, _("attention"));
  // The arrow back into the loop, to the place of the next token.
  const slot = box(parts.chips[parts.shown + 1]);
  const low = parts.scene.clientHeight - 2, x = Math.min(Math.max(slot.x, written.left + 12), written.right - 12);
  if (parts.shown < frame.steps.length - 1) {
    const from = next.left + 18;
    arrow(svg, [[from, next.bottom + 2], [from, low], [x, low], [x, written.bottom + 2]], colors.decoder, "up");
    make("text", { x: decoder.x, y: low - 5, "text-anchor": "middle", style: `color:${colors.decoder}` }, svg, _("the chosen token is read next"));
  } else {
    make("text", { x: decoder.x, y: low - 5, "text-anchor": "middle", style: `color:${colors.decoder}` }, svg, frame.ends);
  }
}
