// Plain texts in the cells of a chart: Plotly takes some 50 ms for the numbers of two sentences' attention, because it
// reads each as markup and measures it; here each is one element in the layer where Plotly would have written it. What
// can be pointed at or has markup in it stays Plotly's.

const SVG = "http://www.w3.org/2000/svg";
const AXES = { x: "xaxis", y: "yaxis" };

export const isPlain = (trace) =>
  trace.mode === "text" && trace.hoverinfo === "skip" && !trace.textposition && trace.text.every((text) => !text.includes("<"));

const TYPES = { i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

// A list of numbers, or the bytes of one.
const numbers = (values) =>
  values.bdata ? new TYPES[values.dtype](Uint8Array.from(atob(values.bdata), (letter) => letter.charCodeAt(0)).buffer) : values;

export function write(plot, traces) {
  const layer = plot.querySelector(".main-svg"), group = document.createElementNS(SVG, "g");
  group.setAttribute("class", "plain-texts");
  group.setAttribute("pointer-events", "none");
  for (const trace of traces) group.append(...written(plot, trace));
  layer.querySelector(":scope > .plain-texts")?.remove();
  layer.append(group);
}

function written(plot, trace) {
  if (trace.visible === false) return [];
  const axis = (letter) => plot._fullLayout[(trace[AXES[letter]] ?? letter).replace(letter, AXES[letter])];
  const [across, down] = [axis("x"), axis("y")], [x, y] = [numbers(trace.x), numbers(trace.y)];
  const { size, color, weight } = trace.textfont, family = plot._fullLayout.font.family;
  return trace.text.map((text, i) => {
    const node = document.createElementNS(SVG, "text");
    node.setAttribute("x", across._offset + across.l2p(x[i]));
    node.setAttribute("y", down._offset + down.l2p(y[i]) + 0.35 * size);
    node.setAttribute("text-anchor", "middle");
    node.setAttribute("style", `font: ${weight ?? 400} ${size}px ${family}`);
    node.setAttribute("fill", typeof color === "string" ? color : color[i]);
    node.textContent = letters(text).join("");
    return node;
  });
}
