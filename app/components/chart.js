// A Plotly chart that is drawn again in place. What arrives is one JSON text: {figure, alt}. A chart whose text has not
// changed is left alone, and of several that arrive while one is drawn only the last is drawn.
// A click on a point reports its place and what the figure says belongs to it.

const CONFIG = { displayModeBar: false };

// The drawing library, once for all charts, from this machine. Pages lie beside each other, and `app/` beside them.
function library() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  window.headlightPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("app/static/plotly.min.js", window.location.href);
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("The drawing library did not arrive. Reload the page."));
    document.head.append(script);
  });
  return window.headlightPlotly;
}

async function draw(chart) {
  const Plotly = await library();
  const width = chart.root.clientWidth;
  if (!width || chart.gone || (chart.drawn === chart.text && chart.width === width)) return;  // 0: it is not shown yet
  const { figure } = JSON.parse(chart.text);
  Object.assign(chart, { drawn: chart.text, width });
  const layout = { ...figure.layout, width, clickmode: "event", dragmode: figure.layout.dragmode ?? false };
  layout.font = { family: getComputedStyle(chart.root).fontFamily, ...layout.font };
  await Plotly.react(chart.plot, figure.data, layout, CONFIG);
  if (chart.listens) return;
  chart.listens = true;
  chart.plot.on("plotly_click", ({ points }) => {
    const { x, y, customdata } = points[0];
    chart.report({ x, y, customdata: customdata ?? null });
  });
}

function begin(root) {
  const plot = document.createElement("div");
  root.replaceChildren(plot);
  const chart = { root, plot, queue: Promise.resolve() };
  chart.again = () => { chart.queue = chart.queue.then(() => draw(chart)).catch((error) => { plot.textContent = error.message; }); };
  chart.watch = new ResizeObserver(() => { if (chart.width !== root.clientWidth) chart.again(); });
  chart.watch.observe(root);
  return chart;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chart");
  const chart = root.chart ??= begin(root);
  chart.report = (point) => setTriggerValue("clicked", point);
  const text = new TextDecoder().decode(data);
  if (text !== chart.text) {
    const { figure, alt } = JSON.parse(text);
    root.setAttribute("role", "figure");
    root.setAttribute("aria-label", alt);
    root.style.height = `${figure.layout.height}px`;
    chart.text = text;
    chart.again();
  }
  return () => {
    chart.gone = true;
    chart.watch.disconnect();
    window.Plotly?.purge(chart.plot);
    delete root.chart;
  };
}
