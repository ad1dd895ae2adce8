// All heads in a table: a click on a column's title sorts by it, a click on a row (or Enter) chooses the head; arrow
// keys, Home and End walk the rows. The table stays sorted by the same column when the numbers change.

import { button, element, focusedIn, handled, within } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { decimal, decimals } from "../shared/numbers.js";

const NAMES = ["layer", "head"];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { by: null, up: true, top: 0, chosen: null });
  const names = { layer: _("layer"), head: _("head") };  // of the first two columns
  const titles = [...NAMES, ...data.columns.map((column) => column.title)];
  const value = (row, title) => (NAMES.includes(title) ? row[title] : row.values[titles.indexOf(title) - NAMES.length]);
  const largest = data.columns.map((column, i) => column.most ?? Math.max(...data.rows.map((row) => row.values[i]), 1e-9));
  const text = (v, i) => (data.columns[i].most ? decimal(v) : decimals(v, 2));  // a column with `most` has shares
  let now = data.chosen;  // or the row that has been clicked since
  const choose = (index) => { if (index !== now) setTriggerValue("chosen", now = index); };

  const draw = (focus) => {
    const order = data.rows.map((unused, i) => i);
    if (titles.includes(state.by)) order.sort((a, b) => (state.up ? 1 : -1) * (value(data.rows[a], state.by) - value(data.rows[b], state.by)) || a - b);
    const frame = element("div", "ranking");
    // The role is "grid", because rows can be chosen.
    const table = element("table", { role: "grid", "aria-label": data.label }, frame);
    const head = element("tr", "", element("thead", "", table));
    titles.forEach((title, i) => {
      const sorted = state.by !== title ? "none" : state.up ? "ascending" : "descending";
      const cell = element("th", { scope: "col", "aria-sort": sorted }, head), help = data.columns[i - NAMES.length]?.meaning ?? _("Sort by {column}", { column: names[title] });
      const node = button({ title: help }, cell, names[title] ?? title, () => {
        // The first click sorts numbers from the largest down, and layers and heads from 1 up.
        state.up = state.by === title ? !state.up : NAMES.includes(title);
        state.by = title;
        root.querySelector(".ranking").scrollTop = 0;  // to the beginning of the new order
        draw({ column: i });
      });
      element("span", { "aria-hidden": "true" }, node, { none: "↕", ascending: "↑", descending: "↓" }[sorted]);
    });
    const body = element("tbody", "", table);
    const rows = order.map((index, place) => {
      const { layer, head: number, values } = data.rows[index], isChosen = index === data.chosen;
      const row = element("tr", { tabindex: isChosen ? 0 : -1, "aria-selected": isChosen }, body);
      row.setAttribute("aria-label", _("Layer {layer}, head {head}: {values}", { layer, head: number, values: values.map((v, i) => `${data.columns[i].title} ${text(v, i)}`).join(", ") }));
      element("td", "", row, String(layer));
      element("td", "", row, String(number));
      values.forEach((v, i) => {
        const cell = element("td", "", row);
        element("i", "", cell).style.width = `${Math.min(100, (100 * v) / largest[i])}%`;
        element("span", "", cell, text(v, i));
      });
      row.addEventListener("click", () => choose(index));
      row.addEventListener("keydown", (event) => {
        const goal = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1 }[event.key];
        if (goal !== undefined) rows[within(goal, 0, rows.length - 1)].focus();
        else if (event.key === "Enter" || event.key === " ") choose(index);
        else return;
        handled(event);
      });
      return row;
    });
    state.top = root.querySelector(".ranking")?.scrollTop ?? state.top;
    root.replaceChildren(frame);
    frame.scrollTop = state.top;
    if (state.chosen !== data.chosen) {  // another head: its row is brought into view
      const row = rows[order.indexOf(data.chosen)], above = row.offsetTop - head.offsetHeight;
      if (above < frame.scrollTop) frame.scrollTop = above;
      else if (row.offsetTop + row.offsetHeight > frame.scrollTop + frame.clientHeight) frame.scrollTop = row.offsetTop + row.offsetHeight - frame.clientHeight;
      state.chosen = data.chosen;
    }
    if (focus?.column !== undefined) head.children[focus.column].firstChild.focus();
    if (focus?.row !== undefined) rows[order.indexOf(focus.row)]?.focus({ preventScroll: true });
  };
  draw(focusedIn(root)?.matches("tbody tr") ? { row: data.chosen } : null);
}
