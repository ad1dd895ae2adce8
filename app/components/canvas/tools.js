// The controls of the canvas: kind of attention, arcs or matrix, write again, other translations, undo.

import { button, element, focusedIn, handled, prefersReducedMotion } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { radios } from "../shared/radios.js";

export function showTools(view) {
  const { tools, kinds, message, state } = view, focused = focusedIn(tools)?.dataset.tool;
  segmentedControl(kinds, _("Kind of attention"), message.kinds.map(({ short }) => short), message.kinds.findIndex(({ name }) => name === view.here.kind), (i) => {
    const { name, opening: [layer, head] } = message.kinds[i];
    view.chooseHead(view.last[name] ?? { layer, head }, name);
  });
  tools.replaceChildren();
  if (state.canUndo) button({ class: "undo", "data-tool": "undo", title: _("Takes back the token that you chose") }, tools, _("Undo"), () => view.act("undo", 0, 0));
  if (state.alternatives.length > 1) translationsMenu(view, tools);
  if (view.both.writes && !prefersReducedMotion()) button({ class: "again", "data-tool": "again", title: _("The translation writes itself, token by token") }, tools, _("Write again"), () => view.write());
  const form = element("div", "segments", tools);
  segmentedControl(form, _("Form"), [_("Arcs"), _("Matrix")], view.form === "matrix" ? 1 : 0, (i) => view.show(i ? "matrix" : "arcs"));
  form.querySelectorAll("button").forEach((node) => { node.dataset.tool = "form"; });
  // The controls are new, so the one that had the focus gets it again. If that one is gone, as Undo is after the last
  // step, the form gets it.
  const same = focused && tools.querySelector(`[data-tool=${focused}]:not([aria-checked="false"])`);
  if (focused) (same ?? form.querySelector('[aria-checked="true"]')).focus({ preventScroll: true });
}

function segmentedControl(place, label, texts, chosen, choose) {
  const had = focusedIn(place), { buttons } = radios(place, label, texts, chosen, choose);
  if (had) buttons[chosen]?.focus({ preventScroll: true });
}

// The translations of the same search, and the visitor's own, behind one button. The list is drawn over the panel of
// heads, so that the source and the translation stay in view. A click outside of it or Escape closes it.
function translationsMenu(view, tools) {
  const { alternatives, shown } = view.state, box = element("div", "others", tools);
  const title = _("Translations of this sentence, each with its score: the sum of the log-probabilities, divided by the length penalty");
  const opener = button({ class: "opener", "data-tool": "opener", title }, box, _("{count} translations", { count: alternatives.length }), () => open(list.hidden));
  const list = element("div", "list", box);
  const open = (wide) => {
    list.hidden = !wide;
    opener.setAttribute("aria-expanded", String(wide));
    view.openList?.abort();
    view.openList = wide ? new AbortController() : null;
    if (!wide) return;
    const options = { capture: true, signal: view.openList.signal };
    document.addEventListener("pointerdown", (event) => { if (!event.composedPath().includes(box)) open(false); }, options);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !box.isConnected) return;
      handled(event);
      open(false);
      opener.focus();
    }, options);
    list.scrollIntoView({ block: "nearest" });  // on a phone it is below the button
  };
  open(Boolean(view.openList));  // the controls may be drawn again while it is open
  alternatives.forEach(({ text, detail }, i) => {
    const one = button({ "data-tool": "opener" }, list, undefined, () => { open(false); if (i !== shown) view.act("alternative", 0, i); });
    element("span", { dir: "auto" }, one, text);
    element("span", "number", one, detail);
    if (i === shown) one.setAttribute("aria-current", "true");
  });
  box.addEventListener("focusout", (event) => { if (event.relatedTarget && !box.contains(event.relatedTarget)) open(false); });
}
