// The tree of a search: one column per step, the best sum on top, lines from each hypothesis to the tokens that were
// tried after it. Click or Enter chooses a node; arrow keys walk: left to the parent, right to the best child, up and
// down within a step. Scrolls sideways, and brings the chosen node into view.

import { element, focusedIn, handled } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { cut, make, measurer, write } from "../shared/svg.js";

const BOX = { w: 138, h: 42 }, STEP_X = 184, STEP_Y = 52, TOP = 34, LEFT = 6;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { chosen: null, left: 0 });
  const hadFocus = focusedIn(root);
  const measure = measurer(root);
  const byId = new Map(data.nodes.map((node) => [node.id, node]));
  const x = (node) => LEFT + node.step * STEP_X, y = (node) => TOP + node.row * STEP_Y;
  const steps = Math.max(...data.nodes.map((node) => node.step)), rows = Math.max(...data.nodes.map((node) => node.row)) + 1;
  const width = LEFT + steps * STEP_X + BOX.w + 10, height = TOP + rows * STEP_Y;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": data.title, class: "picture tree" });
  svg.style.setProperty("--role", data.color);
  make("title", {}, svg, data.title);
  for (let step = 0; step <= steps; step++) make("text", { class: "caption", x: LEFT + step * STEP_X + BOX.w / 2, y: 18, "text-anchor": "middle" }, svg, step ? _("step {step}", { step }) : _("start"));

  const edges = make("g", {}, svg);
  const order = [...data.nodes].sort((a, b) => a.best - b.best);  // the path that is shown is on top
  for (const node of order) {
    const parent = byId.get(node.parent);
    if (!parent) continue;
    const a = [x(parent) + BOX.w, y(parent) + BOX.h / 2], b = [x(node), y(node) + BOX.h / 2], middle = (a[0] + b[0]) / 2;
    make("path", { class: `edge ${node.outcome}${node.best ? " best" : ""}`, d: `M${a} C${middle},${a[1]} ${middle},${b[1]} ${b}`, "stroke-width": (node.best ? 4 : 1 + 3 * node.share).toFixed(2) }, edges);
  }

  let now = data.chosen;  // or what has been clicked since
  const choose = (id) => { if (id !== now) setTriggerValue("chosen", now = id); };
  const drawn = new Map();
  for (const node of data.nodes) {
    const on = node.id === data.chosen;
    const group = make("g", { class: `node ${node.outcome}${node.best ? " best" : ""}${on ? " on" : ""}`, role: "button", tabindex: on ? 0 : -1, "aria-label": node.label, "aria-pressed": String(on), "data-id": node.id, transform: `translate(${x(node)},${y(node)})` }, svg);
    make("title", {}, group, node.label);
    make("rect", { width: BOX.w, height: BOX.h, rx: 8 }, group);
    const right = `${node.probability} ${node.sign}`.trim();
    const piece = make("text", { class: "piece", x: 9, y: node.numbers ? 19 : 27 }, group);
    const text = cut(node.piece, BOX.w - 26 - measure(right, 13), 16, measure);
    write(piece, text);
    make("text", { class: "small", x: BOX.w - 8, y: 18, "text-anchor": "end" }, group, right);
    make("text", { class: "small", x: 9, y: 35 }, group, node.numbers);
    group.addEventListener("click", () => choose(node.id));
    group.addEventListener("keydown", (event) => walk(event, node));
    drawn.set(node.id, group);
  }

  const walk = (event, node) => {
    const column = (step) => data.nodes.filter((other) => other.step === step).sort((a, b) => a.row - b.row);
    const near = (row, list) => list.find((other) => other.row === row);
    const goal = {
      ArrowLeft: () => byId.get(node.parent),
      ArrowRight: () => data.nodes.filter((other) => other.parent === node.id).sort((a, b) => b.best - a.best || a.row - b.row)[0],
      ArrowUp: () => near(node.row - 1, column(node.step)),
      ArrowDown: () => near(node.row + 1, column(node.step)),
    }[event.key];
    if (goal) {
      const next = goal();
      if (next) {
        drawn.forEach((group) => group.setAttribute("tabindex", -1));
        drawn.get(next.id).setAttribute("tabindex", 0);
        drawn.get(next.id).focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      choose(node.id);
    } else return;
    handled(event);
  };

  const scroller = element("div", "scroller sideways"), alt = element("p", "alt hidden", null, data.alt);
  const legend = element("p", "note", null, _("{legend}. In a node: its probability, Σ the sum of log-probabilities, and the score after the length penalty.", { legend: data.legend.join(" · ") }));
  scroller.append(svg);
  root.replaceChildren(scroller, legend, alt);
  scroller.scrollLeft = state.left;
  const chosen = byId.get(data.chosen);
  if (chosen && state.chosen !== data.chosen) {
    const from = x(chosen), room = scroller.clientWidth;
    if (from < scroller.scrollLeft + 20 || from + BOX.w > scroller.scrollLeft + room - 20) scroller.scrollLeft = from - Math.max(room - BOX.w, 0) / 2;
  }
  state.chosen = data.chosen;
  state.left = scroller.scrollLeft;
  scroller.addEventListener("scroll", () => { state.left = scroller.scrollLeft; });
  if (hadFocus) drawn.get(data.chosen)?.focus({ preventScroll: true });
}
