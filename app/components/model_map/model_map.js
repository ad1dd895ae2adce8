// The map of the model. The layout comes in plain numbers; a click or Enter on a box goes to its station, and the keys
// up and down go to the box above and below.

import { SVG, make } from "../shared/svg.js";

function arrow(svg, { points, head }, color) {
  make("path", { d: `M${points.join("L")}`, class: "arrow", stroke: color }, svg);
  if (!head) return;
  const [[x0, y0], [x, y]] = points.slice(-2);
  const angle = (Math.atan2(y - y0, x - x0) * 180) / Math.PI;
  make("path", { d: "M0,0L-6,-3.5L-6,3.5Z", fill: color, transform: `translate(${x},${y}) rotate(${angle})` }, svg);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const focused = root.querySelector("g.box:focus")?.dataset.station;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`);
  svg.setAttribute("class", "map picture");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", data.label);
  for (const { x, y, width, height, stack } of data.stacks) {
    make("rect", { x, y, width, height, rx: 10, class: "stack", stroke: data[stack] }, svg);
  }
  for (const each of data.arrows) arrow(svg, each, data[each.stack]);
  const groups = data.boxes.map((box) => {
    const group = make("g", { class: `box ${box.kind}${box.on ? " on" : ""}`, tabindex: 0, role: "button", "aria-pressed": String(box.on) }, svg);
    group.setAttribute("aria-label", `${box.stack}: ${[box.label, box.second].filter(Boolean).join(" ")}`);
    group.dataset.station = box.station;
    make("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6, fill: data[box.stack], stroke: data[box.stack] }, group);
    const middle = box.x + box.width / 2;
    const lines = [box.label, box.second].filter(Boolean);
    lines.forEach((line, i) => make("text", { x: middle, y: box.y + box.height / 2 + (i - (lines.length - 1) / 2) * 14, "text-anchor": "middle", "dominant-baseline": "central" }, group, line));
    group.addEventListener("click", () => setTriggerValue("station", box.station));
    return group;
  });
  groups.forEach((group, i) => {
    group.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1, Enter: 0, " ": 0 }[event.key];  // boxes of a stack come from the bottom up
      if (step === undefined) return;
      event.preventDefault();
      if (data.boxes[i + step]?.stack !== data.boxes[i].stack) return;
      groups[i + step].focus();
      setTriggerValue("station", data.boxes[i + step].station);
    });
  });
  root.replaceChildren(svg);
  if (focused) (groups.find((group) => group.dataset.station === focused) ?? svg.querySelector("g.box.on"))?.focus();
}
