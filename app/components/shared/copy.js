// A button that copies a text. Where the browser keeps the clipboard closed (plain http from another machine), the text
// appears, selected, to be copied by hand: in an <input>, or in a <textarea> if it has several lines.

import { button, element } from "./dom.js";

export function copyButton(root, { label, help, done, field: kind, text }) {
  root.replaceChildren();
  const row = element("div", "buttons", root);
  button({ title: help }, row, label, async () => {
    const copied = text();
    try {
      await navigator.clipboard.writeText(copied);
      note.textContent = done;
    } catch {
      note.remove();
      row.querySelector(kind)?.remove();
      const field = element(kind, { readonly: "readonly", rows: 4, "aria-label": help }, row);
      field.value = copied;
      field.select();
    }
  });
  const note = element("span", { class: "note", role: "status" }, row);
}
