// Saves the picture in the container `st-key-<target>` as SVG, PNG or HTML, in the browser: nothing is sent.

import { background, pictureToSvg } from "./picture_to_svg.js";
import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

function save(blob, name) {
  const a = element("a", { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// A picture that may be wider than its place can be scrolled with the keyboard too.
function makeFocusable(target, name) {
  const box = document.querySelector(`.st-key-${CSS.escape(target)}`);
  if (!box || getComputedStyle(box).overflowX !== "auto") return;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", name);
}

// The figure as one file that needs no network: an interactive chart if it is a Plotly chart, else the SVG.
async function htmlFile(target, name, drawn) {
  const plot = document.querySelector(`.st-key-${CSS.escape(target)} .js-plotly-plot`);
  const head = `<!doctype html><meta charset="utf-8">${element("title", "", null, name).outerHTML}`;
  if (!plot) return `${head}<body style="margin:1rem">${drawn.text}</body>`;
  const library = await (await fetch(new URL("app/static/plotly.min.js", location.href))).text();
  const figure = JSON.stringify({ data: plot.data, layout: { ...plot.layout, paper_bgcolor: background(), plot_bgcolor: background() } }, withPlainArrays).replaceAll("<", "\\u003c");
  return `${head}<body><div id="figure"></div><script>${library}</script>
<script>const figure = ${figure}; Plotly.newPlot("figure", figure.data, figure.layout);</script></body>`;
}

const withPlainArrays = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);

async function pngOf(drawn) {
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
  PNG: pngOf,
  HTML: async (drawn, { target, name }) => new Blob([await htmlFile(target, name, drawn)], { type: "text/html" }),
};

export default function ({ data, parentElement }) {
  makeFocusable(data.target, data.name);
  const root = parentElement.querySelector(".root");
  root.replaceChildren();
  const row = element("div", "buttons", root), note = element("span", { class: "note", role: "status" });
  for (const [kind, file] of Object.entries(KINDS)) {
    button({ "aria-label": _("Save the picture as {kind}", { kind }) }, row, kind, async () => {
      const drawn = pictureToSvg(data.target, [data.name, data.sentence]);
      note.textContent = drawn ? "" : _("There is no picture to save yet.");
      if (!drawn) return;
      try {
        save(await file(drawn, data), `${data.name}.${kind.toLowerCase()}`);
      } catch {
        note.textContent = _("This browser cannot make the {kind} file. Save the picture as SVG instead.", { kind });
      }
    });
  }
  row.append(note);
}
