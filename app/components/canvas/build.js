// The parts of the canvas, made once.

import { element } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { make } from "../shared/svg.js";
import { listen } from "./pointing.js";
import { walkHeads } from "./heads.js";

export function build(view) {
  const { root } = view;
  root.replaceChildren();
  root.classList.add("canvas");
  view.say = element("div", { class: "say", role: "status" }, root);
  view.tools = element("div", "tools", root);
  const frame = element("div", "frame-of-stage", root), arcs = element("div", "arcs", frame), matrix = element("div", "matrix", frame);
  const labels = [element("div", "label first", arcs), element("div", "label second", arcs)];
  const svg = make("svg", { "aria-hidden": "true" }, arcs), tokens = element("div", "tokens", arcs);
  view.stage = { frame, arcs, matrix, labels, svg, tokens };
  view.instead = element("div", "instead", root);
  const side = element("div", "beside", root);
  view.kinds = element("div", "kinds segments", side);
  const part = element("div", "part", side), box = element("div", { class: "heads sideways", role: "radiogroup" }, part);
  const canvas = element("canvas", { "aria-hidden": "true" }, box), buttons = element("div", "", box);
  view.heads = { part, box, canvas, buttons, all: [] };
  view.computed = element("div", { class: "computed", role: "region", "aria-label": _("How the weight is computed") }, side);
  view.facts = element("div", "facts", part);
  view.alt = element("p", "hidden", root);
  listen(view);
  box.addEventListener("pointerleave", () => view.previewHead(null));
  box.addEventListener("focusout", (event) => { if (!box.contains(event.relatedTarget) && view.preview) view.previewHead(null); });
  box.addEventListener("keydown", (event) => walkHeads(view, event));
  root.addEventListener("pointerdown", () => view.skip());
  root.addEventListener("keydown", (event) => {
    view.skip();
    if (event.key === "Escape" && view.cell) { view.open(null); event.stopPropagation(); }
  });
}
