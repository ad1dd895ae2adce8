// The checkpoints as cards: languages and name, size, the main score and what it was measured on. A click opens
// a checkpoint.

import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const focused = [...root.querySelectorAll("button")].indexOf(parentElement.activeElement);
  const scrolled = root.querySelector(".cards")?.scrollTop ?? 0;
  const list = element("div", { class: "cards picture downwards", role: "group", "aria-label": data.label });
  for (const card of data.cards) {
    const node = button({ "aria-pressed": card.open }, list, undefined, () => { if (!card.open) setTriggerValue("opened", card.name); });
    const title = element("span", "title", node, card.title);
    element("i", "", title, card.open ? _("{name}, is open", { name: card.called }) : card.called);
    element("span", "score", node, card.score);
    element("span", "size", node, card.size);
    const bar = element("span", "bar", node);
    if (card.score) element("i", "", bar).style.width = `${card.share}%`;
    else bar.style.visibility = "hidden";
    if (card.parts) element("span", "parts", node, card.parts);
    element("span", "measured", node, card.measured);
  }
  root.replaceChildren(list);
  list.scrollTop = scrolled;
  if (focused >= 0) list.children[Math.min(focused, list.children.length - 1)]?.focus({ preventScroll: true });
}
