// Two texts word by word. A label below each changed, missing or added part says what it is, so colour is not needed.

import { element } from "../shared/dom.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.replaceChildren();
  const line = element("div", { class: "difference", role: "group", "aria-label": data.label, dir: "auto" }, root);
  for (const { change, old, new: fresh, mark } of data.stretches) {
    const stretch = element("span", `stretch ${change}`, line), words = element("span", "words", stretch);
    if (change === "equal") words.textContent = fresh;
    if (change === "changed" || change === "missing") element("del", "", words, old);
    if (change === "changed") element("span", "arrow", words, " → ");
    if (change === "changed" || change === "added") element("ins", "", words, fresh);
    element("span", "mark", stretch, mark);
  }
  element("p", "note", root, data.summary);
}
