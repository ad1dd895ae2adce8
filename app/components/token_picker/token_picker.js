// A row of tokens of which one is chosen: click, or Tab into it and use the arrow keys, Home and End. It takes one
// line, however long the sentence is: a long row scrolls sideways, and the chosen token is in view.

import { element, focusedIn } from "../shared/dom.js";
import { _, withLabel } from "../shared/language.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { centred, radios } from "../shared/radios.js";
import { put } from "../shared/token.js";

function fill(node, data, index) {
  const [token, second] = [data.tokens[index], data.second?.[index]];
  node.disabled = data.disabled;
  node.setAttribute("aria-label", withLabel(index + 1, `${token}${data.second ? ` → ${second}` : ""}`));
  put(element("span", "text", node), token);
  if (second !== undefined) put(element("span", "second", node), `→ ${second}`);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--role", data.color);
  const focused = focusedIn(root), whole = element("div", "picking"), label = element("span", "picker-label", whole, data.label);
  if (data.second) element("span", "second", label, _("reads → predicts"));
  const row = element("div", { class: "picker sideways", "aria-disabled": data.disabled }, whole);
  if (data.disabled) row.tabIndex = 0;  // keys can scroll the row, although no token can have the focus
  const chosen = currentChoice(root, "token", { ...data, count: data.tokens.length });
  const name = data.second ? _("{label}: reads → predicts", { label: data.label }) : data.label;
  const { buttons } = radios(row, name, data.tokens.map((token, index) => (node) => fill(node, data, index)), chosen, (index) => {
    centred(row, buttons[index]);
    setTriggerValue("chosen", numbered(root, "token", index));
  });
  root.replaceChildren(whole);
  centred(row, buttons[chosen]);
  if (focused) buttons[chosen].focus({ preventScroll: true });
}
