// What a sub-layer does to the stream of a token, in words.

import { _ } from "../shared/language.js";
import { decimals } from "../shared/numbers.js";

export const lengthText = (value) => decimals(value, value < 10 ? 2 : 1);
export const degrees = (value) => `${decimals(value, 0)}°`;

// What one sub-layer does, and whether an edit replaces the result.
export function words(state, u) {
  const { data: { stacks }, stack, row } = state, said = addition(state, u);
  if (!isReplaced(stacks[stack], row, u + 1)) return said;
  const replaced = _("An edit replaces the new stream by a vector of another sentence.");
  return `${said} ${replaced}`;
}

// Whether an edit replaces the embedding of a token (`place` 0), or its stream after a sub-layer (`place` from 1).
export const isReplaced = ({ replaced, parts }, row, place) => Boolean(replaced.values[row * (parts.length + 1) + place]);

function addition({ data, stack, row, off }, u) {
  const all = data.stacks[stack], { values: lengths } = all.lengths, { values: added } = all.addedLengths;
  const { values: angles } = all.toStream, count = all.parts.length;
  const [before, after] = [lengths[row * (count + 1) + u], lengths[row * (count + 1) + u + 1]];
  const { layer, name, edits } = all.parts[u], ends = { before: lengthText(before), after: lengthText(after) };
  const length = data.preNorm ? _("length {before} → {after}.", ends) : _("length {before} → {after} after LayerNorm.", ends);
  const given = { layer, name, own: lengthText(added[row * count + u]), angle: degrees(angles[row * count + u]), length };
  if (off.has(edits.residual)) return _("Layer {layer}, {name}, without its residual connection: its output, of length {own}, is the new stream; {length}", given);
  if (off.has(edits.sublayer)) return _("Layer {layer}, {name}, taken away: it adds nothing; {length}", given);
  if (u === largest(all, row)) return _("Layer {layer}, {name}, adds most of all: a vector of length {own}, at {angle} to the stream; {length}", given);
  return _("Layer {layer}, {name}: adds a vector of length {own}, at {angle} to the stream; {length}", given);
}

// The sub-layer that adds the longest vector to this token; -1 if there is only one.
export function largest({ parts, addedLengths }, row) {
  const added = addedLengths.values.subarray(row * parts.length, (row + 1) * parts.length);
  return parts.length > 1 ? added.indexOf(Math.max(...added)) : -1;
}
