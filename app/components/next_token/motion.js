// The chosen token moves from the distribution to the place where it goes in.

import { element, prefersReducedMotion } from "../shared/dom.js";

const DURATION = 280;  // ms

// Where the chosen token is in the distribution now; call it before the next step is shown.
export function chosenPlace(parts) {
  return parts.rows.find((place) => place.chosen)?.name.getBoundingClientRect();
}

export function animateToken(parts, from, chip) {
  parts.flying?.finish();
  if (!from || prefersReducedMotion() || !chip.animate) return;
  const origin = parts.scene.getBoundingClientRect(), to = chip.getBoundingClientRect();
  const token = element("span", "flying", parts.scene, chip.textContent);
  token.setAttribute("aria-hidden", "true");
  const place = ({ left, top }) => `translate(${left - origin.left}px, ${top - origin.top}px)`;
  chip.classList.add("away");
  parts.flying = token.animate([{ transform: place(from) }, { transform: place(to) }], { duration: DURATION, easing: "ease-in-out" });
  parts.flying.onfinish = parts.flying.oncancel = () => {
    token.remove();
    chip.classList.remove("away");
    parts.flying = null;
  };
}

// One pass of the decoder: its layers light up in turn.
export function pass(stack) {
  if (prefersReducedMotion()) return;
  stack.querySelectorAll(".layers i").forEach((layer, n, all) => {
    layer.getAnimations?.().forEach((running) => running.cancel());
    layer.animate?.([{ opacity: .25 }, { opacity: 1, offset: .5 }, { opacity: .75 }], { duration: 300 - 20 * all.length, delay: 20 * (all.length - 1 - n), fill: "backwards" });
  });
}
