// The map of the model. The layout comes in plain numbers; a click or Enter on a box goes to its station.

const NS = "http://www.w3.org/2000/svg";

function add(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const focused = root.querySelector("g.box:focus")?.dataset.station;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`);
  svg.setAttribute("class", "map");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", data.label);
  for (const stack of data.stacks) {
    add(svg, "rect", { x: stack.x, y: stack.y, width: data.column + 16, height: stack.height, rx: 10, class: "stack", stroke: data[stack.stack] });
  }
  const m = data.memory;
  add(svg, "path", { d: `M${m.x0},${m.y0} V${m.y0 - 12} H${m.middle} V${m.y1} H${m.x1 - 4}`, class: "memory", stroke: data.encoder });
  add(svg, "path", { d: `M${m.x1 - 8},${m.y1 - 5} L${m.x1},${m.y1} L${m.x1 - 8},${m.y1 + 5} Z`, fill: data.encoder });
  for (const box of data.boxes) {
    const group = add(svg, "g", { class: `box ${box.kind}${box.on ? " on" : ""}`, tabindex: 0, role: "button", "aria-pressed": String(box.on) });
    group.setAttribute("aria-label", `${box.stack}: ${[box.label, box.second].filter(Boolean).join(" ")}`);
    group.dataset.station = box.station;
    add(group, "rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6, fill: data[box.stack], stroke: data[box.stack] });
    const middle = box.x + box.width / 2;
    const lines = [box.label, box.second].filter(Boolean);
    lines.forEach((line, i) => add(group, "text", { x: middle, y: box.y + box.height / 2 + (i - (lines.length - 1) / 2) * 15, "text-anchor": "middle", "dominant-baseline": "central" }, line));
    const go = () => setTriggerValue("station", box.station);
    group.addEventListener("click", go);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); }
    });
  }
  root.replaceChildren(svg);
  if (focused) [...svg.querySelectorAll("g.box")].find((group) => group.dataset.station === focused)?.focus();
}
