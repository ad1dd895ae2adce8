// Stores its data in `window.headlightHeld` for another component, and sends an event. It draws nothing.

import { TYPES } from "../shared/arrays.js";

export default function ({ data: bytes }) {
  const held = (window.headlightHeld ??= {});
  if (held.newest === bytes) return;
  held.newest = bytes;
  unpacked(bytes).then((data) => {
    if (held.newest !== bytes) return;  // newer data have arrived since
    held[data.holds] = data;
    document.dispatchEvent(new CustomEvent("headlight-held"));
  });
}

// The data of a message, see __init__.py; an array as { values, shape }.
async function unpacked(bytes) {
  const message = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  const start = 4 + new DataView(message).getUint32(0, true), text = new TextDecoder().decode(new Uint8Array(message, 4, start - 4));
  const arrayAt = ({ dtype, at, shape }) => {
    const Type = TYPES[dtype], size = shape.reduce((product, length) => product * length, Type.BYTES_PER_ELEMENT);
    return { values: new Type(message.slice(start + at, start + at + size)), shape };
  };
  return JSON.parse(text, (name, value) => (value?.dtype ? arrayAt(value) : value));
}
