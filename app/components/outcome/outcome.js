// Two translations, a line each. A token that the other line does not have is underlined and marked for screen readers.

import { inWords, put } from "../shared/token.js";

function part(parent, name, className, text) {
  const node = document.createElement(name);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function line(root, row, lang, gone) {
  const box = part(root, "div", "line"), name = part(box, "div", "name", row.label);
  if (row.note) part(name, "div", "note", row.note);
  const tokens = part(box, "ol", "tokens");
  tokens.setAttribute("lang", lang);
  tokens.setAttribute("aria-label", row.label);
  for (const { text, changed, note, share } of row.tokens) {
    const item = part(tokens, "li", changed ? "changed" : ""), word = part(item, changed ? (gone ? "del" : "ins") : "span", "word");
    put(word, inWords(text));
    const track = part(item, "i", "track"), bar = part(track, "i", "bar");
    bar.style.width = `${Math.round(100 * share)}%`;
    part(item, "small", "", note);
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--bar", data.color);
  root.replaceChildren();
  data.rows.forEach((row, index) => line(root, row, data.lang, index === 0));
  part(root, "p", "summary", data.summary).setAttribute("aria-live", "polite");
}
