// A copy of an SVG that looks the same without style sheets: every style is written into its element. A text gets its
// width too: the reader's machine may not have the font of the page.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
  "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "overflow", "paint-order", "visibility", "display"];

export function withInlineStyles(svg) {
  const copy = svg.cloneNode(true), { width, height } = getComputedStyle(svg);
  for (const [name, value] of Object.entries({ width, height })) {
    copy.style.removeProperty(name);  // 1rem has another size in the file
    copy.setAttribute(name, parseFloat(value) || 0);
  }
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) to[i].style.setProperty(name, value);
    }
    if (!(node instanceof SVGTextContentElement) || node.childElementCount || node.hasAttribute("textLength")) return;
    const wide = node.getComputedTextLength();
    if (wide) Object.entries({ textLength: wide, lengthAdjust: "spacingAndGlyphs" }).forEach(([name, value]) => to[i].setAttribute(name, value));
  });
  return copy;
}
