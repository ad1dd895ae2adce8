// Two translations, a line each. A token that the other line does not have is struck through in the first line and
// underlined in the second; for screen readers it is a <del> or an <ins>.

import { element } from "../shared/dom.js";
import { put } from "../shared/token.js";

function line(root, row, lang, gone) {
  const box = element("div", "line", root), name = element("div", "name", box, row.label);
  if (row.note) element("div", "note", name, row.note);
  const tokens = element("ol", "tokens sideways", box);
  tokens.setAttribute("lang", lang);
  tokens.setAttribute("aria-label", row.label);
  tokens.tabIndex = 0;  // keys can scroll a long translation
  for (const { text, changed, note, share } of row.tokens) {
    const item = element("li", changed ? "changed" : "", tokens), word = element(changed ? (gone ? "del" : "ins") : "span", "word", item);
    put(word, text);
    const track = element("i", "track", item), bar = element("i", "bar", track);
    bar.style.width = `${Math.round(100 * share)}%`;
    element("small", "", item, note);
  }
  // If the tokens are in one line, scrolls to the first change.
  tokens.scrollLeft = (tokens.querySelector(".changed")?.offsetLeft ?? 0) - tokens.offsetLeft - 40;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--bar", data.color);
  if (!root.firstChild) {  // a live region has to be there before its text changes
    element("div", "rows", root);
    element("p", { class: "summary", "aria-live": "polite" }, root);
  }
  const [rows, summary] = root.children;
  rows.replaceChildren();
  data.rows.forEach((row, index) => line(rows, row, data.lang, index === 0));
  if (summary.textContent !== data.summary) summary.textContent = data.summary;
}
