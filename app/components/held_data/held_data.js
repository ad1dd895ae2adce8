// Keeps what it is given for another component, and tells it so. It has no picture of its own.

export default function ({ data: bytes }) {
  const held = (window.headlightHeld ??= {});
  if (held.newest === bytes) return;
  const data = JSON.parse(new TextDecoder().decode(bytes));
  held.newest = bytes;
  held[data.holds] = data;
  document.dispatchEvent(new CustomEvent("headlight-held"));
}
