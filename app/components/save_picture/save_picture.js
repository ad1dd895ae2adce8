// Saves the picture in the container `st-key-<target>` as SVG, PNG or HTML, in the browser: nothing is sent. A Plotly chart is
// several SVG layers on top of each other; they are joined into one. Styles are written into the elements. A picture of
// HTML is drawn as SVG by boxes.js.

import { asBoxes } from "./boxes.js";
import { button, element } from "../shared/dom.js";
import { inlined } from "./inlined.js";
import { SVG, make } from "../shared/svg.js";

// Puts the parts of a picture below each other, also those that scroll inside it. Returns the height of all.
function stacked(layers, copies) {
  return copies.reduce((y, copy, i) => {
    const { width, height } = layers[i].getBoundingClientRect();
    for (const [name, value] of Object.entries({ y, width, height })) copy.setAttribute(name, value);
    return y + height;
  }, 0);
}

function picture(target) {
  const box = document.querySelector(`.st-key-${CSS.escape(target)}`);
  if (!box) return null;
  let layers = [...box.querySelectorAll(".js-plotly-plot .main-svg")];
  if (!layers.length) layers = [...box.querySelectorAll("*")].filter((n) => n.shadowRoot).flatMap((n) => [...n.shadowRoot.querySelectorAll(".picture")]);
  if (!layers.length) return null;
  const { width, height } = layers[0] instanceof SVGSVGElement && layers[0].classList.contains("main-svg")
    ? { width: layers[0].width.baseVal.value, height: layers[0].height.baseVal.value }  // a chart may be drawn larger
    : layers[0].getBoundingClientRect();
  const whole = make("svg", { xmlns: SVG, width, height });
  make("rect", { width: "100%", height: "100%", fill: ground() }, whole);
  for (const layer of layers) whole.appendChild(layer instanceof SVGElement ? inlined(layer) : asBoxes(layer));
  const high = layers[0].matches("[data-stacked]") ? stacked(layers, [...whole.children].slice(1)) : height;
  whole.setAttribute("height", high);
  return { text: new XMLSerializer().serializeToString(whole), width, height: high };
}

function save(blob, name) {
  const a = element("a", { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// A picture that may be wider than its place can be scrolled with the keyboard too.
function reachable(target, name) {
  const box = document.querySelector(`.st-key-${CSS.escape(target)}`);
  if (!box || getComputedStyle(box).overflowX !== "auto") return;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", name);
}

// The figure as one file that needs no network: a chart with all that it does when one points at it, else its drawing.
async function page(target, name, drawn) {
  const plot = document.querySelector(`.st-key-${CSS.escape(target)} .js-plotly-plot`);
  const head = `<!doctype html><meta charset="utf-8">${element("title", "", null, name).outerHTML}`;
  if (!plot) return `${head}<body style="margin:1rem">${drawn.text}</body>`;
  const library = await (await fetch(new URL("app/static/plotly.min.js", location.href))).text();
  const figure = JSON.stringify({ data: plot.data, layout: { ...plot.layout, paper_bgcolor: ground(), plot_bgcolor: ground() } }, withPlainArrays).replaceAll("<", "\\u003c");
  return `${head}<body><div id="figure"></div><script>${library}</script>
<script>const figure = ${figure}; Plotly.newPlot("figure", figure.data, figure.layout);</script></body>`;
}

const ground = () => getComputedStyle(document.querySelector("[data-testid=stApp]") ?? document.documentElement).backgroundColor;
const withPlainArrays = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);

async function image(drawn) {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawn.text);
  await image.decode();
  canvas.width = 2 * drawn.width;
  canvas.height = 2 * drawn.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

const KINDS = {
  SVG: async (drawn) => new Blob([drawn.text], { type: "image/svg+xml" }),
  PNG: image,
  HTML: async (drawn, { target, name }) => new Blob([await page(target, name, drawn)], { type: "text/html" }),
};

export default function ({ data, parentElement }) {
  reachable(data.target, data.name);
  const root = parentElement.querySelector(".root");
  root.replaceChildren();
  const row = element("div", "buttons", root), note = element("span", { class: "note", role: "status" });
  for (const [kind, file] of Object.entries(KINDS)) {
    button({ "aria-label": `Save the picture as ${kind}` }, row, kind, async () => {
      const drawn = picture(data.target);
      note.textContent = drawn ? "" : "There is no picture to save yet.";
      if (!drawn) return;
      try {
        save(await file(drawn, data), `${data.name}.${kind.toLowerCase()}`);
      } catch {
        note.textContent = `This browser could not make the ${kind}; the SVG works.`;
      }
    });
  }
  row.append(note);
}
