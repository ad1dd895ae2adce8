// All heads in a table: a click on a column's title sorts by it, a click on a row (or Enter) chooses the head; arrow keys,
// Home and End walk the rows. How it is sorted stays while the numbers change.

const NAMES = ["layer", "head"];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { by: null, up: true, top: 0, chosen: null });
  const titles = [...NAMES, ...data.columns.map((column) => column.title)];
  const value = (row, title) => (NAMES.includes(title) ? row[title] : row.values[titles.indexOf(title) - NAMES.length]);
  const largest = data.columns.map((column, i) => column.most ?? Math.max(...data.rows.map((row) => row.values[i]), 1e-9));
  const make = (name, parent, text) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };

  let now = data.chosen;  // or what has been clicked since
  const choose = (index) => { if (index !== now) setTriggerValue("chosen", now = index); };

  const draw = (focus) => {
    const order = data.rows.map((_, i) => i);
    if (titles.includes(state.by)) order.sort((a, b) => (state.up ? 1 : -1) * (value(data.rows[a], state.by) - value(data.rows[b], state.by)) || a - b);
    const frame = document.createElement("div");
    frame.className = "ranking";
    const table = make("table", frame);
    table.setAttribute("role", "grid");  // rows can be chosen
    table.setAttribute("aria-label", data.label);
    const head = make("tr", make("thead", table));
    titles.forEach((title, i) => {
      const cell = make("th", head);
      cell.scope = "col";
      cell.setAttribute("aria-sort", state.by !== title ? "none" : state.up ? "ascending" : "descending");
      const button = make("button", cell, title);
      button.type = "button";
      button.title = data.columns[i - NAMES.length]?.meaning ?? `Sort by ${title}`;
      make("span", button, state.by !== title ? "↕" : state.up ? "↑" : "↓").setAttribute("aria-hidden", "true");
      button.addEventListener("click", () => {
        // Numbers from the largest down first; layers and heads from 1 up.
        state.up = state.by === title ? !state.up : NAMES.includes(title);
        state.by = title;
        draw({ column: i });
      });
    });
    const body = make("tbody", table);
    const rows = order.map((index, place) => {
      const row = make("tr", body), { layer, head: number, values } = data.rows[index];
      row.tabIndex = index === data.chosen ? 0 : -1;
      row.setAttribute("aria-selected", String(index === data.chosen));
      row.setAttribute("aria-label", `Layer ${layer}, head ${number}: ` + values.map((v, i) => `${data.columns[i].title} ${v.toFixed(2)}`).join(", "));
      make("td", row, String(layer));
      make("td", row, String(number));
      values.forEach((v, i) => {
        const cell = make("td", row);
        const bar = make("i", cell);
        bar.style.width = `${Math.min(100, (100 * v) / largest[i])}%`;
        make("span", cell, v.toFixed(2));
      });
      row.addEventListener("click", () => choose(index));
      row.addEventListener("keydown", (event) => {
        const goal = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: rows.length - 1 }[event.key];
        if (goal !== undefined) rows[Math.max(0, Math.min(goal, rows.length - 1))].focus();
        else if (event.key === "Enter" || event.key === " ") choose(index);
        else return;
        event.preventDefault();
        event.stopPropagation();
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
  const active = root.getRootNode().activeElement;
  const kept = active && root.contains(active) && active.matches("tbody tr");
  draw(kept ? { row: data.chosen } : null);
}
