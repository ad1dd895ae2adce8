// The map of the model. The layout comes in plain numbers; a click or Enter on a box goes to its station, and the keys
// up and down go to the box above and below.

const NS = "http://www.w3.org/2000/svg";

function add(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function arrow(svg, { points, head }, color) {
  add(svg, "path", { d: `M${points.join("L")}`, class: "arrow", stroke: color });
  if (!head) return;
  const [[x0, y0], [x, y]] = points.slice(-2);
  const angle = (Math.atan2(y - y0, x - x0) * 180) / Math.PI;
  add(svg, "path", { d: "M0,0L-6,-3.5L-6,3.5Z", fill: color, transform: `translate(${x},${y}) rotate(${angle})` });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const focused = root.querySelector("g.box:focus")?.dataset.station;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`);
  svg.setAttribute("class", "map picture");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", data.label);
  for (const { x, y, width, height, stack } of data.stacks) {
    add(svg, "rect", { x, y, width, height, rx: 10, class: "stack", stroke: data[stack] });
  }
  for (const each of data.arrows) arrow(svg, each, data[each.stack]);
  const groups = data.boxes.map((box) => {
    const group = add(svg, "g", { class: `box ${box.kind}${box.on ? " on" : ""}`, tabindex: 0, role: "button", "aria-pressed": String(box.on) });
    group.setAttribute("aria-label", `${box.stack}: ${[box.label, box.second].filter(Boolean).join(" ")}`);
    group.dataset.station = box.station;
    add(group, "rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6, fill: data[box.stack], stroke: data[box.stack] });
    const middle = box.x + box.width / 2;
    const lines = [box.label, box.second].filter(Boolean);
    lines.forEach((line, i) => add(group, "text", { x: middle, y: box.y + box.height / 2 + (i - (lines.length - 1) / 2) * 14, "text-anchor": "middle", "dominant-baseline": "central" }, line));
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
