// A table of results, with a column for each model or each input. The label above each row says what was done to the
// model or to the sentence to get it.

import { element } from "../shared/dom.js";
import { scrollsByKeys } from "../shared/watch_size.js";

function fill(box, cell, lang) {
  scrollsByKeys(element("div", { class: "text downwards", lang, dir: "auto" }, box, cell.text));
  if (cell.share !== null) element("div", "filled", element("div", "track", box)).style.width = `${100 * cell.share}%`;
  if (cell.note) element("div", "note", box, cell.note);
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--bar", data.color);
  root.replaceChildren();
  element("h3", "", root, data.title);
  if (data.note) element("p", "note", root, data.note);
  const table = element("table", { "aria-label": data.title }, root);
  const headings = element("tr", "", element("thead", "", table)), body = element("tbody", "", table);
  data.columns.forEach((column, i) => {
    const name = element("th", { scope: "col" }, headings, column);
    if (data.names[i]) element("div", "note", name, data.names[i]);
  });
  for (const row of data.rows) {
    element("th", { scope: "rowgroup", colspan: data.columns.length }, element("tr", "", body), row.label);
    const cells = element("tr", "", body);
    for (const cell of row.cells) fill(element("td", cell.changed ? "changed" : "", cells), cell, data.lang);
  }
}
