// The tree of a search: one column per step, in the order of tree_rows in app/views/decoding/tree_data.py, and lines
// from each hypothesis to the tokens that were tried after it. A click or Enter chooses a node. Arrow keys move the
// focus: left to the parent, right to the child on the shown path or else to the uppermost child, up and down within a
// step. The tree scrolls sideways to the chosen node; in a lecture it does not scroll (layout.js).

import { isOfBrowser } from "../shared/arrow_keys.js";
import { element, focusedIn, handled } from "../shared/dom.js";
import { _, ngettext } from "../shared/language.js";
import { cut, make, measurer, withFont, write } from "../shared/svg.js";
import { rem, watchSize } from "../shared/watch_size.js";
import { placed } from "./layout.js";

const PHONE = 641;  // px: in a narrower window, the tree scrolls
const SMALL = 0.875, OF_LEGEND = 3.7;  // rem: font size of numbers; height of the two lines below the tree

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { chosen: null, left: 0 });
  state.data = data;
  const again = () => {
    const room = roomOf(root), sizes = JSON.stringify([room, rem()]);
    if (state.drawn === state.data && state.sizes === sizes) return;
    Object.assign(state, { drawn: state.data, sizes });
    draw(root, state, room, setTriggerValue);
  };
  withFont(root, again);
  const watcher = watchSize(root.getRootNode().host?.closest("[data-testid=stMainBlockContainer]") ?? root, again);
  window.addEventListener("resize", again);
  return () => { watcher.disconnect(); window.removeEventListener("resize", again); };
}

// The room that the window leaves for the tree, if the page says how much is below it (`--chart-below`, in rem).
// Otherwise null: the tree may scroll.
function roomOf(root) {
  const below = parseFloat(getComputedStyle(root).getPropertyValue("--chart-below"));
  if (!(below > 0) || window.innerWidth < PHONE || !root.clientWidth) return null;
  return { width: root.clientWidth, height: Math.floor(window.innerHeight - root.getBoundingClientRect().top - (below + OF_LEGEND) * rem()) };
}

function draw(root, state, room, setTriggerValue) {
  const { data } = state, unit = rem(), measure = measurer(root), hadFocus = focusedIn(root);
  const byId = new Map(data.nodes.map((node) => [node.id, node]));
  const numbers = Math.max(...data.nodes.map((node) => measure(node.numbers, SMALL * unit)));
  const layout = placed(data.nodes, data.chosen, { rem: unit, room, numbers });
  const { box, x, y, width, height } = layout;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": data.title, class: "picture tree" });
  svg.style.setProperty("--role", data.color);
  make("title", {}, svg, data.title);
  for (let step = layout.first; step <= layout.last; step++) {
    make("text", { class: "caption", x: x({ step }) + box.w / 2, y: 1.125 * unit, "text-anchor": "middle" }, svg, titleOfStep(step, layout));
  }

  const edges = make("g", {}, svg), isShown = new Set(layout.shown);
  // The path of the shown hypothesis is drawn last, on top.
  const order = [...layout.shown].sort((a, b) => a.best - b.best);
  for (const node of order) {
    const parent = byId.get(node.parent);
    if (!isShown.has(parent)) continue;
    const a = [x(parent) + box.w, y(parent) + box.h / 2], b = [x(node), y(node) + box.h / 2], middle = (a[0] + b[0]) / 2;
    const thick = (node.best ? 4 : 1 + 3 * node.share) * unit / 16;
    make("path", { class: `edge ${node.outcome}${node.best ? " best" : ""}`, d: `M${a} C${middle},${a[1]} ${middle},${b[1]} ${b}`, "stroke-width": thick.toFixed(2) }, edges);
  }

  let now = data.chosen;  // after a click: the node that was clicked last
  const choose = (id) => { if (id !== now) setTriggerValue("chosen", now = id); };
  const drawn = new Map();
  for (const node of layout.shown) {
    const on = node.id === data.chosen;
    const group = make("g", { class: `node ${node.outcome}${node.best ? " best" : ""}${on ? " on" : ""}`, role: "button", tabindex: on ? 0 : -1, "aria-label": node.label, "aria-pressed": String(on), "data-id": node.id, transform: `translate(${x(node)},${y(node)})` }, svg);
    make("title", {}, group, node.label);
    make("rect", { width: box.w, height: box.h, rx: unit / 2 }, group);
    writeIn(group, node, layout, unit, measure);
    group.addEventListener("click", () => choose(node.id));
    group.addEventListener("keydown", (event) => walk(event, node));
    drawn.set(node.id, group);
  }
  if (!drawn.has(data.chosen)) drawn.values().next().value?.setAttribute("tabindex", 0);

  const walk = (event, node) => {
    const column = (step) => layout.shown.filter((other) => other.step === step).sort((a, b) => a.row - b.row);
    const near = (row, list) => list.find((other) => other.row === row);
    const goal = {
      ArrowLeft: () => byId.get(node.parent),
      ArrowRight: () => layout.shown.filter((other) => other.parent === node.id).sort((a, b) => b.best - a.best || a.row - b.row)[0],
      ArrowUp: () => near(node.row - 1, column(node.step)),
      ArrowDown: () => near(node.row + 1, column(node.step)),
    }[event.key];
    if (goal && !isOfBrowser(event)) {
      const next = drawn.get(goal()?.id);
      if (next) {
        drawn.forEach((group) => group.setAttribute("tabindex", -1));
        next.setAttribute("tabindex", 0);
        next.focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      choose(node.id);
    } else return;
    handled(event);
  };

  const scroller = element("div", room ? "whole" : "scroller sideways"), alt = element("p", "alt hidden", null, data.alt);
  scroller.append(svg);
  root.replaceChildren(scroller, element("p", "note", null, legend(data, layout)), alt);
  if (!room) scrolled(scroller, state, byId.get(data.chosen), layout);
  if (hadFocus) drawn.get(data.chosen)?.focus({ preventScroll: true });
}

const titleOfStep = (step, { isNarrow }) => (step === 0 ? _("start") : isNarrow ? String(step) : _("step {step}", { step }));

// The texts of a node: the numbers beside and below the token, or in a narrow node all below each other.
function writeIn(group, node, { box, isNarrow }, unit, measure) {
  const right = `${node.probability} ${node.sign}`.trim(), inset = (isNarrow ? 0.3 : 0.56) * unit;
  const beside = isNarrow ? 0 : measure(right, SMALL * unit) + 0.5 * unit;
  const line = isNarrow ? 1.15 : node.numbers ? 1.19 : 1.69;
  const token = make("text", { class: "token", x: inset, y: line * unit }, group);
  write(token, cut(node.token, box.w - 2 * inset - beside, unit, measure));
  const small = { class: "small", x: inset };
  if (isNarrow) {
    make("text", { ...small, y: 2.25 * unit }, group, right);
    make("text", { ...small, y: 3.35 * unit }, group, node.sum);
  } else {
    make("text", { ...small, x: box.w - inset, y: 1.15 * unit, "text-anchor": "end" }, group, right);
    make("text", { ...small, y: 2.2 * unit }, group, node.numbers);
  }
}

function legend(data, { isNarrow, first, last, steps, leftOut }) {
  const sentences = [isNarrow
    ? _("{legend}. In a node: its probability, and Σ the sum of log-probabilities.", { legend: data.legend.join(" · ") })
    : _("{legend}. In a node: its probability, Σ the sum of log-probabilities, and the score after the length penalty.", { legend: data.legend.join(" · ") })];
  if (first > 0 || last < steps) sentences.push(_("Steps {first} to {last} of {count} are shown: click a node in the first or last column to see the steps beside it.", { first: Math.max(first, 1), last, count: steps }));
  if (leftOut) sentences.push(ngettext("{count} candidate at the bottom of its column is left out.", "{count} candidates at the bottom of their columns are left out.", leftOut));
  return sentences.join(" ");
}

// Brings the chosen node into view, and keeps the place to which a reader has scrolled.
function scrolled(scroller, state, chosen, { x, box }) {
  scroller.scrollLeft = state.left;
  if (chosen && state.chosen !== chosen.id) {
    const from = x(chosen), room = scroller.clientWidth;
    if (from < scroller.scrollLeft + 20 || from + box.w > scroller.scrollLeft + room - 20) scroller.scrollLeft = from - Math.max(room - box.w, 0) / 2;
  }
  state.chosen = chosen?.id;
  state.left = scroller.scrollLeft;
  scroller.addEventListener("scroll", () => { state.left = scroller.scrollLeft; });
}
