// Saves the picture in the container `st-key-<target>` as SVG or PNG, in the browser: nothing is sent. A Plotly chart is
// several SVG layers on top of each other; they are joined into one. Styles are written into the elements. A picture of
// HTML is drawn as SVG by boxes.js.

import { asBoxes } from "./boxes.js";
import { SVG } from "../shared/svg.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
  "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "visibility", "display"];

function inlined(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) to[i].style.setProperty(name, value);
    }
  });
  return copy;
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
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  whole.setAttribute("width", width);
  whole.setAttribute("height", height);
  const ground = document.createElementNS(whole.namespaceURI, "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.querySelector("[data-testid=stApp]") ?? document.body).backgroundColor);
  whole.appendChild(ground);
  for (const layer of layers) whole.appendChild(layer instanceof SVGElement ? inlined(layer) : asBoxes(layer));
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

function save(blob, name) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
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

export default function ({ data, parentElement }) {
  reachable(data.target, data.name);
  const root = parentElement.querySelector(".root");
  const row = document.createElement("div");
  row.className = "buttons";
  const note = document.createElement("span");
  note.className = "note";
  note.setAttribute("role", "status");
  for (const kind of ["SVG", "PNG"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    button.setAttribute("aria-label", `Save the picture as ${kind}`);
    button.addEventListener("click", () => {
      const drawn = picture(data.target);
      if (!drawn) { note.textContent = "There is no picture to save yet."; return; }
      const svg = new Blob([drawn.text], { type: "image/svg+xml" });
      if (kind === "SVG") return save(svg, `${data.name}.svg`);
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = 2 * drawn.width;
        canvas.height = 2 * drawn.height;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => save(blob, `${data.name}.png`));
      };
      image.onerror = () => { note.textContent = "This browser could not draw the PNG; the SVG works."; };
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawn.text);
    });
    row.appendChild(button);
  }
  row.appendChild(note);
  root.replaceChildren(row);
}
