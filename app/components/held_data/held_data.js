// Stores its data in `window.headlightHeld` for another component, and sends an event. It draws nothing.

export default function ({ data: bytes }) {
  const held = (window.headlightHeld ??= {});
  if (held.newest === bytes) return;
  const data = JSON.parse(new TextDecoder().decode(bytes));
  held.newest = bytes;
  held[data.holds] = data;
  document.dispatchEvent(new CustomEvent("headlight-held"));
}
