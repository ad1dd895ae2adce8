// A table of results: a column a model, above each line what was done.

function node(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function filled(cell, lang) {
  const box = node("td", cell.changed ? "changed" : ""), text = node("div", "text", cell.text);
  text.setAttribute("lang", lang);
  text.setAttribute("dir", "auto");
  text.title = cell.text;
  box.append(text);
  if (cell.share !== null) {
    const track = node("div", "track"), bar = node("div", "filled");
    bar.style.width = `${100 * cell.share}%`;
    track.append(bar);
    box.append(track);
  }
  if (cell.note) box.append(node("div", "note", cell.note));
  return box;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--bar", data.color);
  const table = node("table"), head = node("thead"), body = node("tbody"), names = node("tr");
  for (const column of data.columns) {
    const name = node("th", "", column);
    name.scope = "col";
    names.append(name);
  }
  head.append(names);
  for (const row of data.rows) {
    const line = node("tr"), label = node("th", "", row.label), cells = node("tr");
    label.scope = "rowgroup";
    label.colSpan = data.columns.length;
    line.append(label);
    for (const cell of row.cells) cells.append(filled(cell, data.lang));
    body.append(line, cells);
  }
  table.append(head, body);
  table.setAttribute("aria-label", data.title);
  root.replaceChildren(node("h3", "", data.title), table);
}
