// Writes plain texts into the cells of a chart in place of Plotly, which parses each as markup and measures it (about
// 50 ms for the numbers of two attention matrices). Plotly still writes texts that react to the mouse or have markup.

import { decoded } from "../shared/arrays.js";
import { make } from "../shared/svg.js";

const AXES = { x: "xaxis", y: "yaxis" };
// Signs as they are escaped for Plotly; each is one letter on the screen.
const MARKS = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

export const letters = (text) => [...text.replace(/&(lt|gt|amp);/g, (mark) => MARKS[mark])];
export const escaped = (text) => text.replace(/[<>&]/g, (one) => Object.keys(MARKS).find((mark) => MARKS[mark] === one));

export const isPlain = (trace) =>
  trace.mode === "text" && trace.hoverinfo === "skip" && !trace.textposition && trace.text.every((text) => !text.includes("<"));

// The numbers of a list, or of its encoded bytes.
const numbers = (values) => (values.bdata ? decoded(values).values : values);

export function writeTexts(plot, traces) {
  const layer = plot.querySelector(".main-svg"), group = make("g", { class: "plain-texts", "pointer-events": "none" });
  for (const trace of traces) group.append(...written(plot, trace));
  layer.querySelector(":scope > .plain-texts")?.remove();
  layer.append(group);
}

function written(plot, trace) {
  if (trace.visible === false) return [];
  const axis = (letter) => plot._fullLayout[(trace[AXES[letter]] ?? letter).replace(letter, AXES[letter])];
  const [across, down] = [axis("x"), axis("y")], [x, y] = [numbers(trace.x), numbers(trace.y)];
  const { size, color, weight } = trace.textfont, family = plot._fullLayout.font.family;
  return trace.text.map((text, i) => make("text", {
    x: across._offset + across.l2p(x[i]), y: down._offset + down.l2p(y[i]) + 0.35 * size, "text-anchor": "middle",
    style: `font: ${weight ?? 400} ${size}px ${family}`, fill: typeof color === "string" ? color : color[i],
  }, null, letters(text).join("")));
}
