// If the tokens along an axis do not have enough room, only every second name, or every third, and so on, is drawn, so
// that the names can be read. Pointing at a cell still shows its name. The room is computed from the attributes that
// Plotly has set, without measuring the page.

const FEW = 6;  // an axis with at most so many names shows all of them
const WIDE = 0.55;  // width of a letter, as a share of its height

export function thinOut(plot) {
  const axes = new Map();
  for (const text of plot.querySelectorAll('g[class$="tick"] > text')) {
    text.style.visibility = "";
    const { parentNode: tick } = text, name = tick.getAttribute("class");
    if (!axes.has(name)) axes.set(name, []);
    axes.get(name).push(text);
  }
  for (const [name, texts] of axes) {
    if (texts.length <= FEW) continue;
    const every = Math.ceil(needed(texts, name.startsWith("y")) / apart(texts, name.startsWith("y")));
    if (every > 1) texts.forEach((text, i) => { if (i % every) text.style.visibility = "hidden"; });
  }
}

function apart(texts, upright) {
  const at = (text) => +(text.getAttribute("transform").match(/translate\(([^,)]*),?([^)]*)\)/)?.[upright ? 2 : 1] ?? NaN);
  return Math.abs(at(texts[texts.length - 1]) - at(texts[0])) / (texts.length - 1);
}

// The px from one name to the next that a reader needs.
function needed(texts, upright) {
  const size = parseFloat(texts[0].style.fontSize);
  const angle = Math.abs(+(texts[0].getAttribute("transform").match(/rotate\(([^,)]*)/)?.[1] ?? 0));
  if (upright) return size;
  if (angle) return size / Math.sin((angle * Math.PI) / 180);
  return WIDE * size * (1 + Math.max(...texts.map((text) => text.textContent.length)));
}
