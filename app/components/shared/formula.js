// Typesets text with mathematics in it: "√d_k" and "√32" with the line over what is under the root, "q_17" with an
// index.

import { element } from "./dom.js";

const FORMULA = /(√(?:d_k|[\d,.]+\d|\d)|\b[a-z]_(?:k|\d+))/;

function symbol(parent, text) {
  const [name, index] = text.split("_");
  if (index === undefined) { parent.append(name); return; }
  element("i", "", parent, name);
  element("sub", "", parent, index);
}

// Puts the text into the node, in place of what is in it.
export function typeset(node, text) {
  node.replaceChildren();
  text.split(FORMULA).forEach((part, i) => {
    if (i % 2 === 0) { if (part) node.append(part); return; }
    const formula = element("span", "formula", node, part.startsWith("√") ? "√" : "");
    symbol(part.startsWith("√") ? element("span", "under", formula) : formula, part.replace("√", ""));
  });
  return node;
}
