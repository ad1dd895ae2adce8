// A Plotly chart that is drawn again in place. Its data is one JSON text: {figure, alt, reports}. If the text
// has not changed, the chart is left alone. If several texts arrive while it is drawn, only the last is drawn next.
// With `reports`, a click on a point, or on a cell of a heatmap whose `meta` has {clicks: true}, sends its position and
// its `customdata`. When the page becomes light or dark, the chart is drawn again. If only the layout has
// changed (its shapes or annotations), `datarevision` stays the same, so Plotly does not draw the traces again.

import { replaceHyphens } from "./hover.js";
import { numberFormat, withLocalPercent } from "./number_format.js";
import { escaped, isPlain, letters, writeTexts } from "./texts.js";
import { thinOut } from "./ticks.js";
import { plotlyLibrary } from "../shared/plotly_library.js";
import { isDark, onNewColors, resolved } from "../shared/themed.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";

const CONFIG = { displayModeBar: false, ...numberFormat };
const SMALLEST = 10;  // px, font size of a number

// Figures are made for a font size of 16 px. In a larger window, where fonts are larger, the whole drawing is scaled.

// The chart is as high as its figure. If the page says how much room it needs below the chart (`--chart-below`, in rem),
// the chart is as high as the window allows, but at least three quarters as high as the figure.
function heightOf(root, usual, scale) {
  const below = parseFloat(getComputedStyle(root).getPropertyValue("--chart-below"));
  const room = (window.innerHeight - root.getBoundingClientRect().top) / scale - 16 * below;
  return below > 0 ? Math.max(0.75 * usual, Math.floor(room)) : usual;
}

const isUpToDate = (chart) =>
  chart.drawn === chart.text && chart.width === chart.root.clientWidth && chart.dark === isDark() && chart.scale === scaleOfPage() &&
  chart.high === heightOf(chart.root, chart.usual, chart.scale);

// Fits the numbers of a heatmap to the width of its cells. They are a text trace with `meta: {columns, beside, short,
// letter}`, and get the largest font that fits. If none fits, the `short` numbers are tried, then none are shown.
// `beside` are the px of the width that are not cells. `letter`, the mean width of a character as a share of the font
// size, is given if most characters are wider than digits. Words (`meta: {columns, beside, cut}`) get a smaller font,
// too, and what is still too long is cut.
function fitted(trace, width) {
  if (!trace.meta?.columns) return trace;
  const cell = (width - trace.meta.beside) / trace.meta.columns;
  if (trace.meta.cut) return shortened(trace, cell);
  for (const text of [trace.text, trace.meta.short]) {
    const longest = Math.max(...text.map((each) => each.length + each.includes("∞")));  // ∞ is as wide as two digits
    const size = Math.floor(Math.min(trace.textfont.size, (0.92 * cell) / ((trace.meta.letter ?? 0.5) * longest)));
    if (size >= SMALLEST) return { ...trace, text, textfont: { ...trace.textfont, size } };
  }
  return { ...trace, visible: false };
}

function shortened(trace, cell) {
  const all = trace.text.map(letters);
  const longest = Math.max(...all.map((each) => each.length));
  const size = Math.max(SMALLEST + 1, Math.min(trace.textfont.size, Math.floor(cell / (0.52 * longest))));
  const most = Math.floor(cell / (0.52 * size));
  const cut = (word) => (word.length <= most ? word : [...word.slice(0, most - 1), "…"]);
  const text = all.map((word) => (most > 2 ? escaped(cut(word).join("")) : ""));  // hover texts are not cut
  return { ...trace, text, textfont: { ...trace.textfont, size } };
}

// A title that is wider than its chart becomes smaller.
const ruler = document.createElement("canvas").getContext("2d");
function titled({ title, template, font, width }) {
  const usual = { ...template?.layout?.title?.font, ...title?.font };
  if (!title?.text || !usual.size) return title;
  ruler.font = `${usual.weight ?? 400} ${usual.size}px ${font.family}`;
  const share = width / (ruler.measureText(title.text).width + 4);
  return share >= 1 ? title : { ...title, font: { ...title.font, size: Math.max(SMALLEST, usual.size * share) } };
}

// Returns the same object for the same template: for Plotly, another object is another template, and it would draw
// everything again.
const templates = new Map();
function known(template) {
  const text = JSON.stringify(template);
  if (!templates.has(text)) templates.set(text, template);
  return templates.get(text);
}

async function draw(chart) {
  if (!isUpToDate(chart)) await drawAnew(chart);
  chart.root.setAttribute("aria-busy", String(!isUpToDate(chart)));
}

async function drawAnew(chart) {
  const Plotly = await plotlyLibrary();
  const { root, plot, text } = chart;
  const scale = scaleOfPage(), rootWidth = root.clientWidth, width = Math.round(rootWidth / scale);
  if (!width || chart.gone) return;  // 0: it is not shown yet
  const dark = isDark();
  const { figure: made, reports } = JSON.parse(resolved(text)), figure = withLocalPercent(made);
  const usual = figure.layout.height, high = heightOf(root, usual, scale), layout = { ...figure.layout, width, height: high, clickmode: "event", dragmode: figure.layout.dragmode ?? false };
  layout.font = { family: getComputedStyle(root).fontFamily, ...layout.font };
  layout.title = titled(layout);
  layout.template = known(layout.template);
  const traces = figure.data.map((trace) => fitted(trace, width)), plain = traces.filter(isPlain);
  const others = traces.filter((trace) => !isPlain(trace)), data = JSON.stringify(others);
  if (data !== chart.data) Object.assign(chart, { data, revision: (chart.revision ?? 0) + 1 });
  await Plotly.react(plot, others, { ...layout, datarevision: chart.revision }, CONFIG);
  writeTexts(plot, plain);
  thinOut(plot);
  plot.style.width = `${width}px`;  // the unscaled width: the scaled one would make this element wider than the page
  plot.style.transform = scale === 1 ? "" : `scale(${scale})`;  // Plotly reads it to know what is pointed at
  root.style.height = `${high * scale}px`;
  Object.assign(chart, { drawn: text, width: rootWidth, dark, scale, usual, high, reports });
  if (chart.listens) return;
  chart.listens = true;
  replaceHyphens(plot);
  plot.on("plotly_click", ({ points: [{ x, y, customdata, data }] }) => {
    if (chart.reports && (data.type !== "heatmap" || data.meta?.clicks)) chart.report({ x, y, customdata: customdata ?? null });
  });
}

function failed(chart, error) {
  window.Plotly?.purge(chart.plot);
  Object.assign(chart, { drawn: undefined, listens: false });
  chart.plot.textContent = error.message;
  chart.root.setAttribute("aria-busy", "false");
}

function begin(root) {
  const plot = document.createElement("div");
  plot.style.transformOrigin = "0 0";
  root.replaceChildren(plot);
  const chart = { root, plot, queue: Promise.resolve() };
  chart.again = () => { chart.queue = chart.queue.then(() => draw(chart)).catch((error) => failed(chart, error)); };
  const resized = () => { if (root.clientWidth && !isUpToDate(chart)) chart.again(); };
  const watcher = watchSize(root, resized);
  window.addEventListener("resize", resized);
  chart.unwatch = () => { watcher.disconnect(); window.removeEventListener("resize", resized); };
  return chart;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chart");
  const chart = root.chart ??= begin(root);
  const turn = chart.turn = {};
  chart.report = (point) => setTriggerValue("clicked", point);
  const text = new TextDecoder().decode(data);
  if (text !== chart.text) {
    const { figure, alt } = JSON.parse(text);
    root.setAttribute("role", "figure");
    root.setAttribute("aria-busy", "true");
    root.setAttribute("aria-label", alt);
    root.style.height = `${figure.layout.height * scaleOfPage()}px`;
    chart.text = text;
    chart.again();
  }
  onNewColors(() => { if (!chart.gone && !isUpToDate(chart)) chart.again(); });
  return () => {
    if (chart.turn !== turn) return;  // a later call has taken the chart over
    chart.gone = true;
    chart.unwatch();
    window.Plotly?.purge(chart.plot);
    delete root.chart;
  };
}
