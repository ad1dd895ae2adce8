// What the pointer does: over a row, its key is followed; over a strip, one dimension is read; a click chooses the key.

import { termOf } from "./sentences.js";
import { make } from "../shared/svg.js";

export function follow({ head, list, body, scene, state, rows, trace, say, choose }) {
  const { key: strip, isNarrow } = scene.columns, { d_k } = scene.message;
  const marks = strip ? [make("rect", { class: "mark", y: 0, height: 44 }, head), make("rect", { class: "mark", y: 0, height: rows.height }, body)] : [];
  const at = (event) => {
    const box = body.getBoundingClientRect(), scale = box.width / scene.width;
    return { x: (event.clientX - box.left) / scale, key: Math.floor((event.clientY - box.top) / scale / rows.pitch) };
  };
  const read = (x) => {
    const i = strip && x >= strip.x && x < strip.x + strip.w ? Math.floor(((x - strip.x) / strip.w) * d_k) : -1;
    marks.forEach((mark) => {
      mark.classList.toggle("shown", i >= 0);
      mark.setAttribute("x", strip.x + (i * strip.w) / d_k);
      mark.setAttribute("width", Math.max(strip.w / d_k, 2));
    });
    say(i >= 0 ? termOf(scene, i) : undefined);
  };
  const leave = () => {
    if (state.isRunning) return;
    trace(state.key);
    read(-1);
  };
  list.addEventListener("pointermove", (event) => {
    const { x, key } = at(event);
    if (state.isRunning || event.pointerType === "touch" || !rows.rows[key]) return;
    if (key !== scene.key) trace(key);
    read(x);
  });
  head.addEventListener("pointermove", (event) => { if (!state.isRunning && !isNarrow) read(at(event).x); });
  list.addEventListener("pointerleave", leave);
  head.addEventListener("pointerleave", leave);
  list.addEventListener("click", (event) => {
    const { key } = at(event);
    if (rows.rows[key]) choose("key", key);
  });
}
