// Buttons for the heads of the layer. The lines of a head are drawn while its button is on. A double click on a
// button turns all others off.

import { draw } from "./picture.js";
import { button, element, focusedIn, handled } from "../shared/dom.js";
import { _ } from "../shared/language.js";

export function chooseHeads(root, state) {
  const { data } = state;
  const bar = root.querySelector(".heads");
  const focused = [...bar.children].indexOf(focusedIn(bar));
  bar.replaceChildren();
  root.onkeydown = null;
  if (!data.heads) return;
  element("span", "", bar, _("Heads"));
  const set = (on) => {
    if (!on.length) return;  // the last head that is on stays on
    state.on = new Set(on);
    buttons.forEach((node, j) => node.setAttribute("aria-pressed", String(state.on.has(j))));
    draw(root, state);
    state.reportHeads();
  };
  const toggle = (j) => set(data.heads.map((head, i) => i).filter((i) => state.on.has(i) !== (i === j)));
  const buttons = data.heads.map(({ color, dashed }, j) => {
    const title = _("Head {head}: on or off (a double click leaves only this one)", { head: j + 1 });
    const labels = { "aria-label": _("Head {head}", { head: j + 1 }), title };
    const node = button({ class: dashed ? "head dashed" : "head", "aria-pressed": state.on.has(j), ...labels }, bar, `${j + 1}`, () => toggle(j));
    node.style.setProperty("--role", color);
    node.addEventListener("dblclick", () => set([j]));
    return node;
  });
  if (data.heads.length > 1) {
    button({ title: _("All heads of this layer") }, bar, _("all"), () => set(data.heads.map((head, j) => j)));
    button({ title: _("Only head {head}, the chosen one", { head: data.chosen + 1 }) }, bar, _("one"), () => set([data.chosen]));
  }
  if (focused >= 0) bar.children[focused]?.focus({ preventScroll: true });
  root.onkeydown = (event) => {
    const j = "123456789".indexOf(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || j < 0 || j >= data.heads.length) return;
    handled(event);
    toggle(j);
  };
}
