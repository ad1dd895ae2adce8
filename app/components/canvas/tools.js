// The controls of the canvas: the kind of attention, arcs or matrix, writing again, other translations, and taking back.

import { asked } from "../shared/arrow_keys.js";
import { element } from "./tokens.js";

export function showTools(view) {
  const { tools, kinds, message, standing } = view, focused = tools.contains(view.root.getRootNode().activeElement);
  segments(kinds, message.kinds.map(({ short }) => short), message.kinds.findIndex(({ name }) => name === view.here.kind), (i) => {
    const { name, opening: [layer, head] } = message.kinds[i];
    view.chooseHead(view.last[name] ?? { layer, head }, name);
  });
  tools.replaceChildren();
  if (standing.canUndo) button(tools, "undo", "Undo", "Takes back the token that you chose", () => view.act("undo", 0, 0));
  if (standing.alternatives.length > 1) others(view, tools);
  if (view.both.writes) button(tools, "again", "Write again", "The translation writes itself, token by token", () => view.write());
  const forms = element("div", "segments", tools);
  forms.setAttribute("role", "radiogroup");
  forms.setAttribute("aria-label", "Form");
  segments(forms, ["Arcs", "Matrix"], view.form === "matrix" ? 1 : 0, (i) => view.show(i ? "matrix" : "arcs"));
  if (focused) tools.querySelector('[aria-checked="true"]')?.focus({ preventScroll: true });
}

function button(parent, name, text, help, act) {
  const node = element("button", name, parent, text);
  node.title = help;
  node.addEventListener("click", act);
  return node;
}

function segments(place, texts, chosen, choose) {
  const had = place.contains(place.getRootNode().activeElement);
  place.replaceChildren();
  texts.forEach((text, i) => {
    const node = element("button", "", place, text);
    node.setAttribute("role", "radio");
    node.setAttribute("aria-checked", String(i === chosen));
    node.tabIndex = i === chosen ? 0 : -1;
    node.addEventListener("click", () => { if (i !== chosen) choose(i); });
  });
  place.onkeydown = (event) => {
    const goal = asked(event, chosen, texts.length);
    if (goal !== undefined && goal !== chosen) choose(goal);
  };
  if (had) place.children[chosen]?.focus({ preventScroll: true });
}

// Other translations of the same search, behind one button.
function others(view, tools) {
  const { alternatives, shown } = view.standing, box = element("div", "others", tools);
  const opener = button(box, "opener", `${alternatives.length} translations`, "Other translations that the search found", () => open(list.hidden));
  const list = element("div", "list", box);
  const open = (wide) => { list.hidden = !wide; opener.setAttribute("aria-expanded", String(wide)); };
  open(false);
  alternatives.forEach(({ text, detail }, i) => {
    const one = element("button", "", list);
    element("span", "", one, text).dir = "auto";
    element("span", "number", one, detail);
    if (i === shown) one.setAttribute("aria-current", "true");
    one.addEventListener("click", () => { open(false); if (i !== shown) view.act("alternative", 0, i); });
  });
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { open(false); opener.focus(); event.stopPropagation(); } });
  box.addEventListener("focusout", (event) => { if (event.relatedTarget && !box.contains(event.relatedTarget)) open(false); });
}
