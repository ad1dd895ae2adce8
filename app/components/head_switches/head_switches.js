// Switches of all heads and sub-layers. A click shows at once and is sent to the page as the list of all parts that are
// off; until the page has heard it, the browser keeps its own state.

import { shades } from "../shared/shades.js";

const add = (name, className, parent, text) => {
  const node = document.createElement(name);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
};
const nats = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)} nats`;

const behaviour = {
  build(root) {
    const { data } = this;
    const color = data.scale && shades(data.scale);
    this.cells = [];
    this.mode = add("button", "mode", root, "A tap leaves only that head of its layer on");
    this.mode.type = "button";
    this.mode.setAttribute("aria-pressed", this.pressed);
    this.mode.addEventListener("click", () => this.mode.setAttribute("aria-pressed", String(!this.alone())));
    const box = add("div", "boards", root);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", data.alt);
    data.panels.forEach((panel) => {
      const board = add("section", "board", box);
      board.style.setProperty("--hue", panel.color);
      const parts = panel.rows.flat();
      this.group(add("button", "title", board, panel.title), parts, `All of ${panel.title}`);
      const grid = add("div", "grid sideways", board);
      grid.style.gridTemplateColumns = `auto repeat(${panel.heads}, var(--cell)) repeat(${panel.rows[0].length - panel.heads}, minmax(2.2rem, 3.4rem))`;
      add("span", "corner", grid, "Layer");
      panel.rows[0].forEach((part) => add("span", "column", grid, part.column));
      panel.rows.forEach((row, layer) => {
        const heads = row.slice(0, panel.heads);
        this.group(add("button", "row", grid, String(layer + 1)), heads, `All heads of layer ${layer + 1}, ${panel.title}`);
        row.forEach((part, column) => {
          const cell = add("button", column < panel.heads ? "cell" : "cell whole", grid);
          cell.type = "button";
          cell.setAttribute("role", "switch");
          const change = data.change?.[part.edit];
          if (change !== undefined) {
            const shade = color(0.5 + 0.5 * Math.max(-1, Math.min(change / data.largest, 1)));
            cell.style.setProperty("--fill", shade.fill);
          }
          cell.classList.toggle("strongest", data.strongest.includes(part.edit));
          cell.tabIndex = this.cells.length ? -1 : 0;
          const at = { cell, part, change, heads: column < panel.heads ? heads : null, panel: board, layer, column };
          this.cells.push(at);
          cell.addEventListener("click", (event) => ((event.shiftKey || this.alone()) && at.heads ? this.only(at) : this.flip([part.edit], !this.off.has(part.edit))));
          for (const kind of ["pointerenter", "focus"]) cell.addEventListener(kind, () => this.tell(at));
          cell.addEventListener("keydown", (event) => this.key(event, at));
        });
      });
    });
    this.said = add("p", "said", root, data.hint);
  },
  group(button, parts, name) {
    button.type = "button";
    button.title = `${name}: off, or on again`;
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => {
      const edits = parts.map((part) => part.edit);
      this.flip(edits, !edits.every((edit) => this.off.has(edit)));
    });
  },
  alone() {
    return this.mode.getAttribute("aria-pressed") === "true";
  },
  only({ part, heads }) {
    heads.forEach(({ edit }) => this.off.add(edit));
    this.flip([part.edit], false);
  },
  flip(edits, off) {
    edits.forEach((edit) => (off ? this.off.add(edit) : this.off.delete(edit)));
    this.number = Math.max(this.number + 1, Date.now());
    this.show();
    this.send({ off: [...this.off], number: this.number });
  },
  key(event, at) {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step && !(event.key === " " && event.shiftKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) return at.heads && this.only(at);
    const next = this.cells.find(({ panel, layer, column }) => panel === at.panel && layer === at.layer + step[0] && column === at.column + step[1])
      ?? (step[1] ? this.cells[this.cells.indexOf(at) + step[1]] : undefined);
    if (!next) return;
    at.cell.tabIndex = -1;
    next.cell.tabIndex = 0;
    next.cell.focus({ preventScroll: true });
  },
  tell(cell) {
    const { part, change, heads } = this.told = cell;
    const now = this.off.has(part.edit) ? "off" : "on";
    const effect = change === undefined ? "" : ` Switched off alone, it changes the log-probability of the translation by ${nats(change)}.`;
    this.said.textContent = `${part.name}: ${now}.${effect}${heads ? " Shift-click: only this head of its layer." : ""}`;
  },
  show() {
    for (const { cell, part, change } of this.cells) {
      const off = this.off.has(part.edit);
      cell.classList.toggle("off", off);
      cell.textContent = off ? "×" : "";
      cell.setAttribute("aria-checked", String(!off));
      cell.setAttribute("aria-label", part.name + (change === undefined ? "" : `, ${nats(change)} when off`));
    }
    if (this.told) this.tell(this.told);
  },
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const { off, heard, ...rest } = data, text = JSON.stringify(rest);
  let view = root.view;
  if (!view || view.text !== text) {
    const focused = view?.cells.find(({ cell }) => cell === root.getRootNode().activeElement)?.part.edit;
    root.replaceChildren();
    view = root.view = Object.assign(Object.create(behaviour), { data, text, number: view?.number ?? 0, pressed: view?.mode.getAttribute("aria-pressed") ?? "false", off: view?.off ?? new Set(off) });
    view.build(root);
    view.cells.find(({ part }) => part.edit === focused)?.cell.focus({ preventScroll: true });
  }
  if (heard >= view.number) view.off = new Set(off);
  view.send = (changed) => setTriggerValue("changed", changed);
  view.show();
}
