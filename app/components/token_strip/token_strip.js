// A strip of tokens: the token, a bar for its probability where it has one, and small lines below.

import { element } from "../shared/dom.js";
import { putWithMarks } from "../shared/token.js";

const LONGEST = 140;  // characters of a headline; a longer one is written smaller

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.replaceChildren();
  root.style.setProperty("--role", data.color);
  if (data.headline !== undefined) {
    const name = data.headline.length > LONGEST ? "headline long" : "headline";
    element("p", { class: name, lang: data.lang ?? "", dir: "auto" }, root, data.headline);
  }
  const strip = element("ol", { class: "strip picture", "aria-label": data.label }, root);
  for (const chip of data.chips) {
    const item = element("li", { class: `chip ${chip.kind}`, title: chip.title ?? "" }, strip);
    putWithMarks(element("span", "text", item), chip.text);
    if (chip.share !== null) element("i", "", element("span", "bar", item)).style.width = `${100 * chip.share}%`;
    chip.under.forEach((line, i) => element("span", i ? "under" : "under first", item, line));
    if (chip.tag) element("span", "tag", item, chip.tag);
  }
}
