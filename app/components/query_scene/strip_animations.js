// A strip that moves from one place of the stage to another: the query to a key, or a value to the sum.

import { element } from "../shared/dom.js";

export function animationsOf(stage) {
  const clear = () => stage.querySelectorAll(".flying").forEach((node) => node.remove());
  // Moves a copy of the image `from` to the image `to`, in `ms` or less. A query ends on the upper half of the key that
  // it is multiplied with.
  const start = (from, to, ms, onUpperHalf = false) => {
    if (!from || !to) return;
    const [a, b, origin] = [from, to, stage].map((node) => node.getBoundingClientRect());
    const strip = element("img", { class: "flying", alt: "", src: from.getAttribute("href") }, stage);
    Object.assign(strip.style, { left: `${a.left - origin.left}px`, top: `${a.top - origin.top}px`, width: `${a.width}px`, height: `${a.height}px` });
    const high = onUpperHalf ? b.height / 2 : b.height;
    strip.animate([{ transform: "none" }, { transform: `translate(${b.left - a.left}px, ${b.top - a.top}px) scale(${b.width / a.width}, ${high / a.height})` }],
      { duration: Math.min(ms, 300), easing: "ease-in-out", fill: "forwards" }).finished.then(() => strip.remove(), () => {});
  };
  return { start, clear };
}
