// What is drawn for a size: in which unit, and again when there is another one.

// Calls `draw` when an element has another size. Trap: an element of a page that is left has the width 0 before it goes,
// and nothing can be laid out in that (test_a_page_is_left_while_the_canvas_is_on_it).
export function watchSize(element, draw) {
  const watcher = new ResizeObserver(() => { if (element.isConnected && element.clientWidth) draw(); });
  watcher.observe(element);
  return watcher;
}

// The same when the width is another one than now. Returns what ends it.
export function watchWidth(element, draw) {
  let before = element.clientWidth;
  const watcher = watchSize(element, () => {
    if (Math.abs(element.clientWidth - before) < 2) return;
    before = element.clientWidth;
    draw();
  });
  return () => watcher.disconnect();
}

// The px of a rem, and how large the type of the page is: 1 in a window of 1280x720.
export const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
export const scaleOfPage = () => rem() / 16;
