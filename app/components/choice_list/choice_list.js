// A list of rows of which one is chosen.

import { button, element } from "../shared/dom.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const list = element("div", { class: "choices", role: "group", "aria-label": data.label });
  // The chosen row: `data.chosen`, or the row that was clicked since then. If no row is chosen (`data.chosen` is -1),
  // `now` stays -1, so that every click is sent.
  let now = data.chosen;
  data.rows.forEach((row, index) => {
    const node = button({ "aria-pressed": index === data.chosen }, list, undefined, () => {
      if (index === now) return;
      setTriggerValue("chosen", index);
      if (data.chosen >= 0) now = index;
    });
    element("span", "number", node, `${index + 1}`);
    const text = element("span", { class: "text", dir: "auto" }, node, row.text);
    if (row.second) element("span", "second", text, row.second);
    element("span", "detail", node, row.detail ?? "");
  });
  const focused = [...root.querySelectorAll("button")].indexOf(parentElement.activeElement);
  root.replaceChildren(list);
  if (focused >= 0) list.children[Math.min(focused, list.children.length - 1)]?.focus();
}
