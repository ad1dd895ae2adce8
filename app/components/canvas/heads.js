// All heads of the kind at once, one small picture per head. Pointing at a head or moving to it with the arrow keys
// previews it, a click or Enter chooses it. For a long sentence, a dot of a small picture is the largest weight of a
// few cells.

import { cellByKey } from "../shared/arrow_keys.js";
import { button, focusedIn, handled } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { ofHead } from "./message.js";
import { resolved } from "../shared/themed.js";

// rem, side of a small picture: at most LARGEST. If the pictures of a phone would be narrower than FITS, they are as
// wide as FINGER and scroll sideways.
const LARGEST = 3.6, FINGER = 2.75, FITS = 2.5;

export function newHeads(view) {
  view.heads.part.hidden = false;  // what is hidden has no width to measure; showCell hides it again
  const { heads: place, rem } = view, kind = view.message.kind[view.here.kind], canvas = place.canvas;
  const label = (view.layout.flat ? 1.15 : 0.85) * rem, width = Math.max(place.box.clientWidth, 2 * label);  // clientWidth is 0 once the visitor has left the page
  const fitting = (width - label) / kind.heads;
  const column = view.layout.flat || fitting >= FITS * rem ? fitting : FINGER * rem;  // FINGER: they scroll sideways
  const side = Math.min(column, LARGEST * rem, Math.max((place.room - label) / kind.layers, 0.7 * rem));
  const wide = Math.min(column, LARGEST * rem * 1.4, side * 1.6);
  Object.assign(place, { side, wide, label });
  place.box.style.height = `${label + side * kind.layers}px`;
  canvas.style.cssText = `width:${label + wide * kind.heads}px;height:${label + side * kind.layers}px`;
  paintHeads(view);
  const focused = focusedIn(place.buttons);
  place.buttons.replaceChildren();
  place.all = [];
  for (let layer = 0; layer < kind.layers; layer++) {
    for (let head = 0; head < kind.heads; head++) {
      const attributes = { class: "head", role: "radio", "aria-label": _("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 }) };
      const node = button(attributes, place.buttons, undefined, () => view.chooseHead({ layer, head }));
      node.style.cssText = `left:${label + head * wide}px;top:${label + layer * side}px;width:${wide}px;height:${side}px`;
      Object.assign(node.dataset, { layer, head });
      node.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") view.previewHead({ layer, head }); });
      place.all.push(node);
    }
  }
  if (focused) place.all[view.here.layer * kind.heads + view.here.head]?.focus({ preventScroll: true });
}

// Paints the small pictures in the colours of the theme.
export function paintHeads(view) {
  const { heads: { canvas, side, wide, label }, rem } = view, kind = view.message.kind[view.here.kind];
  const dense = window.devicePixelRatio || 1, context = canvas.getContext("2d");
  canvas.width = Math.round((label + wide * kind.heads) * dense);
  canvas.height = Math.round((label + side * kind.layers) * dense);
  context.scale(dense, dense);
  const styles = getComputedStyle(view.root), gap = Math.min(4, side / 8);
  context.font = `${0.875 * rem}px ${styles.fontFamily}`;
  context.textAlign = "center";
  context.fillStyle = styles.color;
  context.globalAlpha = 0.75;
  const every = Math.ceil((1.1 * rem) / side), across = Math.ceil((1.3 * rem) / wide);
  for (let head = 0; head < kind.heads; head += across) context.fillText(head + 1, label + (head + 0.5) * wide, 0.8 * rem);
  for (let layer = 0; layer < kind.layers; layer += every) context.fillText(layer + 1, 0.4 * rem, label + (layer + 0.5) * side + 0.3 * rem);
  context.globalAlpha = 1;
  const ink = rgb(resolved(kind.color), context);
  for (let layer = 0; layer < kind.layers; layer++) {
    for (let head = 0; head < kind.heads; head++) {
      const picture = small(kind, layer, head, Math.max(1, Math.floor((wide - gap) * dense)), Math.max(1, Math.floor((side - gap) * dense)), ink);
      context.imageSmoothingEnabled = false;
      context.drawImage(picture, label + head * wide + gap / 2, label + layer * side + gap / 2, wide - gap, side - gap);
    }
  }
}

function small(kind, layer, head, width, height, ink) {
  const weights = ofHead(kind, layer, head), columns = Math.min(kind.keys, width), rows = Math.min(kind.queries, height);
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [columns, rows];
  const context = picture.getContext("2d"), image = context.createImageData(columns, rows), strongest = new Uint8Array(columns * rows);
  for (let q = 0; q < kind.queries; q++) {
    for (let k = 0; k < kind.keys; k++) {
      const place = Math.floor((q * rows) / kind.queries) * columns + Math.floor((k * columns) / kind.keys);
      strongest[place] = Math.max(strongest[place], weights[q * kind.keys + k]);
    }
  }
  strongest.forEach((byte, i) => image.data.set([...ink, Math.round(18 + 237 * (byte / 255) ** 0.8)], 4 * i));
  context.putImageData(image, 0, 0);
  return picture;
}

function rgb(color, context) {
  context.fillStyle = color;
  const text = context.fillStyle;
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}

export function showHeads(view, here) {
  const kind = view.message.kind[here.kind];
  view.heads.all.forEach((node) => {
    const chosen = +node.dataset.layer === view.here.layer && +node.dataset.head === view.here.head;
    const current = +node.dataset.layer === here.layer && +node.dataset.head === here.head;
    node.setAttribute("aria-checked", String(chosen));
    node.tabIndex = current ? 0 : -1;
    node.classList.toggle("shown", current);
  });
  const { title, layers, heads } = kind;
  view.heads.box.setAttribute("aria-label", _("Heads of {kind}. Layers: {layers}. Heads per layer: {heads}", { kind: title, layers, heads }));
}

export function walkHeads(view, event) {
  const kind = view.message.kind[view.here.kind], from = view.preview ?? view.here;
  const cell = cellByKey(event, [from.layer, from.head], kind.layers, kind.heads);
  if (cell) {
    const [layer, head] = cell;
    view.previewHead({ layer, head });
    view.heads.all[layer * kind.heads + head].focus({ preventScroll: true });
  } else if (event.key === "Escape" && view.preview) {
    view.previewHead(null);
    handled(event);
  }
}
