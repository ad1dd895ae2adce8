// The picture of the lines: paths between two rows of tokens, and which of them stay when a token is isolated.

import { byTouch } from "../shared/hints.js";
import { isolate } from "./isolate.js";
import { place } from "./layout.js";
import { drawTokens } from "./tokens.js";
import { _ } from "../shared/language.js";
import { cellText, decimal } from "../shared/numbers.js";
import { make, measurer } from "../shared/svg.js";

// FAINTEST: the smallest weight that is drawn (a fainter line is invisible). NAMED: the smallest weight of an isolated
// token that is drawn and written.
const FAINTEST = 0.01;
const NAMED = 0.005;
const SAID = 5;  // tokens that the text below the picture names, at most
const MOST = 4000;  // lines that are drawn at once, at most: the strongest
const hint = () => (byTouch() ? _("Tap a token: only its lines stay.") : _("Point at a token, click it, or move with the arrow keys: only its lines stay."));

export function draw(root, state) {
  const { data } = state;
  const heads = data.heads ?? [{ color: data.queries.color }];
  const on = data.heads ? [...state.on].sort((a, b) => a - b) : [0];
  const width = Math.max(root.clientWidth, 280), measure = measurer(root);
  const layout = place(data, width, measure);
  const [rows, columns] = data.shape.slice(-2);
  const weightOf = (head, q, k) => state.weights[(head * rows + q) * columns + k];
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${layout.height}`, height: layout.height, role: "group", "aria-label": data.title, class: layout.tight ? "picture tight" : "picture",
  });
  make("title", {}, svg, data.title);
  const lines = make("g", {}, svg), numbers = make("g", {}, svg);
  const tokens = drawTokens(svg, data, layout, width, measure);
  const path = pathTo(lines, layout, heads, on);

  const show = (focus) => {
    lines.replaceChildren();
    numbers.replaceChildren();
    tokens.flat().forEach((t) => t.classList.remove("on"));
    const faded = rows * columns * on.length < 900;
    let drawn = [];
    for (const head of on) for (let q = 0; q < rows; q++) for (let k = 0; k < columns; k++) {
      const weight = weightOf(head, q, k);
      const mine = focus && (focus.side ? focus.index === q : focus.index === k);
      if (weight >= (mine ? NAMED : FAINTEST) && (!focus || mine || faded)) drawn.push([head, q, k, weight, focus && !mine]);
    }
    const tooMany = drawn.length > MOST;
    if (tooMany) drawn = drawn.sort((a, b) => b[3] - a[3]).slice(0, MOST);
    drawn.forEach((line) => path(...line));
    const status = root.querySelector(".status");
    if (!focus) {
      const left = _("Of all lines, the {count} strongest are drawn.", { count: MOST });
      status.textContent = tooMany ? `${hint()} ${left}` : hint();
      return;
    }
    tokens[focus.side][focus.index].classList.add("on");
    const partners = [];
    layout.sides[1 - focus.side].forEach((box, i) => {
      const [q, k] = focus.side ? [focus.index, i] : [i, focus.index];
      const found = on.map((head) => [weightOf(head, q, k), data[focus.side ? "keys" : "queries"].tokens[i], head]).filter(([w]) => w >= NAMED);
      if (!found.length) return;
      tokens[1 - focus.side][i].classList.add("on");
      partners.push(...found);
      const [weight, , head] = found.reduce((a, b) => (b[0] > a[0] ? b : a));  // if several heads are on, the strongest
      const at = layout.flat
        ? { x: box.ax, y: focus.side ? box.ay + 18 : box.ay - 8, "text-anchor": "middle" }
        : { x: focus.side ? box.ax + 6 : box.ax - 6, y: box.ay + 5, "text-anchor": focus.side ? "start" : "end" };
      const text = cellText(weight, ".00");
      make("text", { class: "number", ...at, ...(on.length > 1 ? { style: `fill:${heads[head].color}` } : {}) }, numbers, text);
    });
    status.textContent = description(data, focus, partners.sort((a, b) => b[0] - a[0]), on.length > 1);
  };
  isolate(root, state, svg, tokens, layout.flat, show);
}

// Returns the function that draws one line. The lines of several heads between the same tokens are side by side, not on
// top of each other.
function pathTo(lines, layout, heads, on) {
  const narrowest = Math.min(...layout.sides.flat().map((box) => (layout.flat ? box.w : box.h)));
  const apart = Math.min(layout.flat ? 6 : 4, (narrowest - 6) / on.length);
  const thick = on.length > 1 ? 4.5 : 7;
  return (head, q, k, weight, faded) => {
    const a = layout.sides[0][k], b = layout.sides[1][q];
    const beside = (on.indexOf(head) - (on.length - 1) / 2) * apart;
    const [ax, ay, bx, by] = layout.flat ? [a.ax + beside, a.ay, b.ax + beside, b.ay] : [a.ax, a.ay + beside, b.ax, b.ay + beside];
    const bend = layout.flat
      ? `C${ax},${(ay + by) / 2} ${bx},${(ay + by) / 2} ${bx},${by}`
      : `C${(ax + bx) / 2},${ay} ${(ax + bx) / 2},${by} ${bx},${by}`;
    const line = make("path", {
      class: "line", d: `M${ax},${ay} ${bend}`, stroke: heads[head].color,
      "stroke-width": (1 + thick * weight).toFixed(2), "stroke-opacity": faded ? 0.04 : (0.08 + 0.87 * weight).toFixed(3),
      "data-q": q, "data-k": k, "data-weight": weight, "data-head": head,
    }, lines);
    if (heads[head].dashed) line.setAttribute("stroke-dasharray", "7 5");
  };
}

function description(data, focus, partners, several) {
  const own = data[focus.side ? "queries" : "keys"];
  const token = focus.side && own.reads.length
    ? _("reads {read}, predicts {predicted}", { read: own.reads[focus.index], predicted: own.tokens[focus.index] })
    : own.tokens[focus.index];
  if (!partners.length) return _("{token} — no weight of {least} or more", { token, least: decimal(NAMED, 3) });
  const named = partners.slice(0, SAID).map(([weight, text, head]) => {
    const name = _("head {head}", { head: head + 1 });
    return `${text} ${decimal(weight)}${several ? ` (${name})` : ""}`;
  });
  if (partners.length > SAID) named.push(_("and {count} more", { count: partners.length - SAID }));
  const others = named.join(" · ");
  return focus.side ? _("{token} — attends to {others}", { token, others }) : _("{token} — is attended to by {others}", { token, others });
}
