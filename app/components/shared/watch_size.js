// Calls `draw` when an element has another size. Trap: an element of a page that is left has the width 0 before it goes,
// and nothing can be laid out in that (test_a_page_is_left_while_the_canvas_is_on_it).
export function watchSize(element, draw) {
  const watcher = new ResizeObserver(() => { if (element.isConnected && element.clientWidth) draw(); });
  watcher.observe(element);
  return watcher;
}
