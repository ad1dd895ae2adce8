import { _ } from "./language.js";

// Loads the drawing library of the charts, once for all charts, from the app's own server. The relative address is
// right on every page, because all pages and `app/` are in the same folder.
export function plotlyLibrary() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  window.headlightPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("app/static/plotly.min.js", window.location.href);
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      window.headlightPlotly = undefined;  // the next chart tries again
      script.remove();
      reject(new Error(_("The drawing library could not be loaded. Reload the page.")));
    };
    document.head.append(script);
  });
  return window.headlightPlotly;
}
