// Lists of numbers to choose from: the layer and the head of a picture.

import { element } from "./dom.js";
import { _ } from "./language.js";
import { currentChoice, numbered } from "./numbered_choices.js";

export function layerAndHead(parent, root, data, report) {
  numberList(parent, root, { name: "layer", label: _("Layer"), count: data.layers, chosen: data.layer }, data.received, report);
  numberList(parent, root, { name: "head", label: _("Head"), count: data.heads, chosen: data.head }, data.received, report);
}

function numberList(parent, root, { name, label, count, chosen }, received, report) {
  const list = element("select", { "data-name": name }, element("label", "group", parent, `${label} `));
  for (let index = 0; index < count; index++) list.add(new Option(String(index + 1), String(index)));
  list.selectedIndex = currentChoice(root, name, { chosen, count, received });
  list.addEventListener("change", () => report(numbered(root, name, list.selectedIndex)));
}
