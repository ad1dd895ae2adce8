// A copy of an SVG that looks the same without style sheets.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
  "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "visibility", "display"];

export function inlined(svg) {
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
