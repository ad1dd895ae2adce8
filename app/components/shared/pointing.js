// Pointing with a mouse or a finger.

// `point` gets the event while the mouse moves over the element, and when it is clicked or tapped. `leave` is called when
// the mouse leaves; after a tap, what was tapped stays.
export function onPointing(element, point, leave) {
  element.addEventListener("pointermove", point);
  element.addEventListener("click", point);
  element.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") leave(); });
}
