// The picture on the page (heat map, chart or component) -> one SVG. A Plotly chart is several SVG layers on top of
// each other; they are joined. A picture made of HTML is drawn as SVG by html_to_svg.js. The file has a margin around
// the picture, and a title above it.

import { htmlToSvg, savedPlace } from "./html_to_svg.js";
import { withInlineStyles } from "./inline_styles.js";
import { SVG, cut, lines, make, measurer } from "../shared/svg.js";
import { rem } from "../shared/watch_size.js";

const MARGIN = 16;

const app = () => document.querySelector("[data-testid=stApp]") ?? document.documentElement;
export const background = () => getComputedStyle(app()).backgroundColor;

// Writes the titles in as many lines as they need, the first title bold. Returns the y at which the picture begins.
function titled(whole, titles, width) {
  const { color, fontFamily } = getComputedStyle(app()), size = rem(), measure = measurer(app());
  let y = MARGIN;
  titles.filter(Boolean).forEach((title, i) => {
    for (const line of lines(title, 0.9 * width, size, measure).map((each) => cut(each, 0.9 * width, size, measure))) {
      const textLength = measure(line, size) * (i ? 1 : 1.07);  // the same width in any font; bold type is wider
      make("text", { x: MARGIN, y: y + size, textLength, lengthAdjust: "spacingAndGlyphs", fill: color, "font-family": fontFamily,
        "font-size": size, "font-weight": i ? 400 : 600 }, whole, line);
      y += 1.4 * size;
    }
  });
  return y > MARGIN ? y + 0.5 * size : y;
}

// Puts the parts of a picture below each other, in full height also if they scroll on the page. Returns the total
// height.
function stacked(layers, copies) {
  return copies.reduce((y, copy, i) => {
    copy.setAttribute("y", y);
    return y + layers[i].getBoundingClientRect().height;
  }, 0);
}

// The text of the SVG and its size in px; null if the container has no picture yet.
export function pictureToSvg(target, titles) {
  const box = document.querySelector(`.st-key-${CSS.escape(target)}`);
  if (!box) return null;
  let layers = [...box.querySelectorAll(".js-plotly-plot .main-svg")];
  if (!layers.length) layers = [...box.querySelectorAll("*")].filter((n) => n.shadowRoot).flatMap((n) => [...n.shadowRoot.querySelectorAll(".picture")]);
  if (!layers.length) return null;
  const { width, height } = layers[0] instanceof SVGSVGElement && layers[0].classList.contains("main-svg")
    // The chart's own size: on the page, it may be scaled.
    ? { width: layers[0].width.baseVal.value, height: layers[0].height.baseVal.value }
    : savedPlace(layers[0]);
  const whole = make("svg", { xmlns: SVG });
  make("rect", { width: "100%", height: "100%", fill: background() }, whole);
  const top = titled(whole, titles, width), picture = make("g", { transform: `translate(${MARGIN},${top})` }, whole);
  for (const layer of layers) picture.appendChild(layer instanceof SVGElement ? withInlineStyles(layer) : htmlToSvg(layer));
  const high = layers[0].matches("[data-stacked]") ? stacked(layers, [...picture.children]) : height;
  const size = { width: width + 2 * MARGIN, height: top + high + MARGIN };
  for (const [name, value] of Object.entries(size)) whole.setAttribute(name, value);
  return { text: new XMLSerializer().serializeToString(whole), ...size };
}
