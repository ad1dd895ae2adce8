// Colours arrive as CSS writes them for both themes, `light-dark(#1d62c4, #82b4ff)`. In HTML and SVG the browser takes
// one of the two by itself; Plotly and images get one of the two here.

const PAIR = /light-dark\((#\w+|rgba\([^)]*\)), (#\w+|rgba\([^)]*\))\)/g;

export const isDark = () => getComputedStyle(document.querySelector("[data-testid=stApp]") ?? document.documentElement).colorScheme === "dark";
export const resolved = (text) => text.replace(PAIR, (pair, light, dark) => (isDark() ? dark : light));

// When the page becomes light or dark, Streamlit calls a component before the page has its new colours: `draw` is called
// when it has them.
export const onNewColors = (draw) => setTimeout(draw, 100);
