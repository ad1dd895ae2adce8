// Switches of all heads and sub-layers. A click changes the picture at once and is sent to the page as the list of all
// parts that are off. Until the page has received it, the browser keeps its own state.

import { ARROW_STEPS, isOfBrowser } from "../shared/arrow_keys.js";
import { element, handled } from "../shared/dom.js";
import { byTouch, forTouch } from "../shared/hints.js";
import { _, ngettext } from "../shared/language.js";
import { isNewSession } from "../shared/numbered_choices.js";
import { decimals, localised } from "../shared/numbers.js";
import { shades } from "../shared/shades.js";

const nats = (value) => _("{value} nats", { value: `${value < 0 ? "−" : "+"}${decimals(Math.abs(value), 2)}` });

// Until the costs are known, the legend has these values and is hidden, so that nothing moves when it appears.
const WAITING = { largest: { head: 1.5, whole: 1.5 }, scale: [], strongest: ["", "", ""] };

const behaviour = {
  build(root) {
    const { data } = this;
    const color = data.scale && shades(data.scale);
    this.cells = [];
    this.mode = element("button", "mode", root, _("A tap leaves only that head of its layer on"));
    this.mode.setAttribute("aria-pressed", this.pressed);
    this.mode.addEventListener("click", () => this.mode.setAttribute("aria-pressed", String(!this.alone())));
    const picture = element("div", "picture", root), box = element("div", "boards", picture);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", data.alt);
    data.panels.forEach((panel) => {
      const board = element("section", "board", box);
      board.style.setProperty("--hue", panel.color);
      const parts = panel.rows.flat().filter(Boolean);
      const title = element("button", "title", board, panel.title);
      element("span", "all", title, _("all"));
      this.group(title, parts, panel.all);
      const grid = element("div", "grid sideways", board), wide = `repeat(${panel.columns.length - panel.heads}, minmax(2.4rem, 3.4rem))`;
      grid.style.gridTemplateColumns = `auto ${panel.heads ? `repeat(${panel.heads}, var(--cell))` : ""} ${wide}`;
      element("span", "corner", grid, _("Layer"));
      panel.columns.forEach((name) => element("span", "column", grid, name));
      panel.rows.forEach((row, layer) => {
        const heads = row.slice(0, panel.heads), some = heads.length ? heads : row.filter(Boolean);
        const all = heads.length ? _("All heads of layer {layer}, {kind}", { layer: layer + 1, kind: panel.title }) : _("All of layer {layer}, {kind}", { layer: layer + 1, kind: panel.title });
        this.group(element("button", "row", grid, String(layer + 1)), some, all);
        row.forEach((part, column) => {
          if (!part) return element("span", "", grid);
          const cell = element("button", column < panel.heads ? "cell" : "cell whole", grid);
          cell.setAttribute("role", "switch");
          const change = data.change?.[part.edit], isWhole = column >= panel.heads;
          if (part.color) cell.style.setProperty("--hue", part.color);
          if (change !== undefined) {
            const shade = color(0.5 + 0.5 * (change / data.largest[isWhole ? "whole" : "head"]));
            cell.style.setProperty("--fill", shade.fill);
          }
          cell.classList.toggle("strongest", data.strongest.includes(part.edit));
          cell.classList.toggle("chosen", part.edit === data.chosen);
          cell.tabIndex = this.cells.length ? -1 : 0;
          const at = { cell, part, change, heads: column < panel.heads ? heads : null, panel: board, layer, column };
          this.cells.push(at);
          cell.addEventListener("click", (event) => ((event.shiftKey || this.alone()) && at.heads ? this.only(at) : this.flip([part.edit], !this.off.has(part.edit))));
          for (const kind of ["pointerenter", "focus"]) cell.addEventListener(kind, () => this.describe(at));
          cell.addEventListener("keydown", (event) => this.key(event, at));
        });
      });
    });
    this.legend(element("div", data.largest ? "legend" : "legend waiting", picture), data.largest ? data : { ...data, ...WAITING });
    const hint = forTouch(_("Click a head to switch it off, and again to switch it on."));
    const outlined = data.chosen ? _("Outlined in orange: the chosen head, which the other pages show.") : "";
    this.description = element("p", "description", root, `${hint} ${outlined}`.trim());
  },
  // The legend: the values at both ends of the colours, for heads and for whole sub-layers.
  legend(line, { scale, largest, whole, strongest, nats: meaning }) {
    const colors = scale.map(([place, color]) => `${color} ${100 * place}%`).join(", ");
    element("span", "", line, _("Log-probability without it:"));
    for (const [name, words] of [["head", _("head")], ["whole", whole]]) {
      const most = localised(String(Number(largest[name].toPrecision(2)))), box = element("span", `ends ${name}`, line);
      element("span", "", box, `−${most}`);
      element("span", "colors", box).style.background = `linear-gradient(to right, ${colors})`;
      element("span", "", box, _("+{most} nats, {part}", { most, part: words }));
    }
    const framed = ngettext("framed: the head that costs most", "framed: the {count} heads that cost most", strongest.length);
    if (strongest.length) element("span", "framed", line, framed);
    element("span", "", line, meaning);
  },
  group(button, parts, name) {
    button.title = _("{parts}: off, or on again", { parts: name });
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
    const step = ARROW_STEPS[event.key];
    if (isOfBrowser(event) || (!step && !(event.key === " " && event.shiftKey))) return;
    handled(event);
    if (!step) return at.heads && this.only(at);
    const next = this.cells.find(({ panel, layer, column }) => panel === at.panel && layer === at.layer + step[0] && column === at.column + step[1])
      ?? (step[1] ? this.cells[this.cells.indexOf(at) + step[1]] : undefined);
    if (!next) return;
    at.cell.tabIndex = -1;
    next.cell.tabIndex = 0;
    next.cell.focus({ preventScroll: true });
  },
  nameOf(part) {
    return part.edit === this.data.chosen ? _("{part}, the chosen head", { part: part.name }) : part.name;
  },
  describe(cell) {
    const { data } = this, { part, change, heads } = this.described = cell;
    const name = this.nameOf(part), sentences = [this.off.has(part.edit) ? _("{part}: off.", { part: name }) : _("{part}: on.", { part: name })];
    const role = data.roles[part.edit];
    if (role) sentences.push(`${role[0].toUpperCase()}${role.slice(1)}.`);
    if (change !== undefined) sentences.push(_("Off alone: {change}.", { change: nats(change) }));
    if (heads && !byTouch()) sentences.push(_("Shift-click: only this head."));
    this.description.textContent = sentences.join(" ");
  },
  show() {
    for (const { cell, part, change } of this.cells) {
      const off = this.off.has(part.edit);
      cell.classList.toggle("off", off);
      cell.textContent = off ? part.mark ?? "×" : this.off.has(part.other) ? part.otherMark : "";
      cell.setAttribute("aria-checked", String(!off));
      const name = this.nameOf(part);
      cell.setAttribute("aria-label", change === undefined ? name : _("{part}, {change} when off", { part: name, change: nats(change) }));
    }
    if (this.described) this.describe(this.described);
  },
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const { off, received, ...rest } = data, text = JSON.stringify(rest);
  let view = root.view;
  if (!view || view.text !== text) {
    const focused = view?.cells.find(({ cell }) => cell === root.getRootNode().activeElement)?.part.edit;
    root.replaceChildren();
    view = root.view = Object.assign(Object.create(behaviour), { data, text, number: view?.number ?? 0, pressed: view?.mode.getAttribute("aria-pressed") ?? "false", off: view?.off ?? new Set(), about: view?.described?.part.edit });
    view.build(root);
    view.described = view.cells.find(({ part }) => part.edit === view.about);
    view.cells.find(({ part }) => part.edit === focused)?.cell.focus({ preventScroll: true });
  }
  if (isNewSession(root, received)) view.number = 0;
  if (received >= view.number) {
    // Describes what a button of the page has switched, or what is off when the page opens.
    const switched = [...[...view.off].filter((edit) => !off.includes(edit)), ...off.filter((edit) => !view.off.has(edit))].at(-1);
    view.described = view.cells.find(({ part }) => part.edit === switched) ?? view.described;
    view.off = new Set(off);
  }
  view.send = (changed) => setTriggerValue("changed", changed);
  view.show();
}
