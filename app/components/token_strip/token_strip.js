// A strip of tokens: the token, a bar for its probability where it has one, and small lines below.

import { put } from "../shared/token.js";

const LONGEST = 140;  // characters of a headline; a longer one is written smaller

function add(parent, name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.replaceChildren();
  root.style.setProperty("--role", data.color);
  if (data.headline !== undefined) {
    const headline = add(root, "p", data.headline.length > LONGEST ? "headline long" : "headline", data.headline);
    headline.setAttribute("lang", data.lang ?? "");
    headline.setAttribute("dir", "auto");
  }
  const strip = add(root, "ol", "strip picture");
  strip.setAttribute("aria-label", data.label);
  for (const chip of data.chips) {
    const item = add(strip, "li", `chip ${chip.kind}`);
    if (chip.title) item.title = chip.title;
    const text = add(item, "span", "text");
    put(text, chip.text);
    if (chip.share !== null) {
      const bar = add(add(item, "span", "bar"), "i", "");
      bar.style.width = `${100 * chip.share}%`;
    }
    chip.under.forEach((line, i) => add(item, "span", i ? "under" : "under first", line));
    if (chip.kind === "byte" || chip.kind === "unknown") add(item, "span", "tag", chip.kind);
  }
}
