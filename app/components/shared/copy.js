// A button that copies a text and then shows "Copied" in its own place, so that nothing moves. If the browser forbids
// it (plain http from another machine), the text appears, selected, to be copied by hand: in an <input>, or in a
// <textarea> if it has several lines.

import { button, element } from "./dom.js";
import { _ } from "./language.js";

const SHOWN_FOR = 3000;  // ms

export function copyButton(root, { label, help, field: kind, text }) {
  root.replaceChildren();
  const row = element("div", "buttons", root);
  const copy = button({ title: help }, row, label, async () => {
    const copied = text();
    try {
      await navigator.clipboard.writeText(copied);
      copy.style.width = `${copy.offsetWidth}px`;
      copy.textContent = _("Copied");
      status.textContent = _("Copied.");
      setTimeout(() => {
        copy.textContent = label;
        status.textContent = "";  // only a change is announced
      }, SHOWN_FOR);
    } catch {
      row.querySelector(kind)?.remove();
      const field = element(kind, { readonly: "readonly", rows: 4, "aria-label": help }, row);
      field.value = copied;
      field.select();
    }
  });
  const status = element("span", { class: "hidden", role: "status" }, row);
}
