// Draws an element again when its size changes, and gives the unit in which it is drawn.

// Calls `draw` when an element has another size. Trap: an element of a page that is being left has the width 0 before
// it is removed, and nothing can be laid out in that width (test_a_page_is_left_while_the_canvas_is_on_it).
export function watchSize(element, draw) {
  const watcher = new ResizeObserver(() => { if (element.isConnected && element.clientWidth) draw(); });
  watcher.observe(element);
  return watcher;
}

// Where a text is too high for its box, it can have the focus, so that keys can scroll it.
export function scrollsByKeys(node) {
  watchSize(node, () => {
    if (node.scrollHeight > node.clientHeight + 1) node.tabIndex = 0;
    else node.removeAttribute("tabindex");
  });
}

// The same as `watchSize`, but only when the width changes. Returns the function that ends it.
export function watchWidth(element, draw) {
  let before = element.clientWidth;
  const watcher = watchSize(element, () => {
    if (Math.abs(element.clientWidth - before) < 2) return;
    before = element.clientWidth;
    draw();
  });
  return () => watcher.disconnect();
}

// The px of a rem, and the scale of the page's font sizes: 1 in a window of 1280x720.
export const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
export const scaleOfPage = () => rem() / 16;
