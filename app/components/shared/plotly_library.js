import { _ } from "./language.js";

// The drawing library of the charts, once for all of them, from this machine. Pages are beside each other in the address, and `app/` is beside them.
export function plotlyLibrary() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  window.headlightPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("app/static/plotly.min.js", window.location.href);
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error(_("The drawing library did not arrive. Reload the page.")));
    document.head.append(script);
  });
  return window.headlightPlotly;
}
