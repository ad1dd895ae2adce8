// The words that are pinned, and the form of the picture. Both are written into the address at once, so that a link has
// them. The server learns of them over the channel, and nothing waits for that. The address has the format of PINNED in
// app/state/choices.py.

import { sendNext } from "./numbers.js";
import { writeInAddress } from "../shared/address.js";

const NONE = -1;

// What the server says is pinned, without places that this sentence does not have.
function serverPinsOf(view) {
  const { queries, keys } = view.message.kind[view.here.kind], [query, key] = view.state.pinned ?? [NONE, NONE];
  const of = (index, count) => (index >= 0 && index < count ? index : null);
  return { query: of(query, queries), key: of(key, keys) };
}

// Pins what the server says is pinned, and opens the calculation if the server says that it is open.
export function receivePins(view) {
  view.pins = serverPinsOf(view);
  view.cell = view.state.pinned?.[2] && view.pins.query !== null && view.pins.key !== null ? { ...view.pins } : null;
}

export const isPinned = ({ pins }) => pins.query !== null || pins.key !== null;

export function keep(view) {
  const { here: { kind, layer, head }, form } = view, query = view.pins.query ?? NONE, key = view.pins.key ?? NONE, computed = Boolean(view.cell);
  writeInAddress({ pinned: isPinned(view) ? `${kind}.${query + 1}.${key + 1}${computed ? ".computed" : ""}` : null });
  view.unsentPins = { id: `kept.${kind}.${query}.${key}.${form}.${computed}`, asks: "kept", kind, layer, head, query, key, computed, form, message: view.message.id };
  sendNext(view);
}

// A calculation that had the focus was closed: the cell or token that it was about gets the focus.
export function focusPinned({ form, pins, cells, tokens }) {
  const node = form === "matrix" ? cells.canvas : tokens.query?.[pins.query];
  node?.focus({ preventScroll: true });
}
