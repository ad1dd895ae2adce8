// Keeps what it is given for the component model_walk, and tells it so. It has no picture of its own.

export default function ({ data }) {
  if (window.headlightWalk?.bytes === data) return;
  window.headlightWalk = { bytes: data, ...JSON.parse(new TextDecoder().decode(data)) };
  document.dispatchEvent(new CustomEvent("headlight-walk"));
}
