// Which keys a lecture takes. A key that is typed in a field, or pressed with Ctrl, Alt or Meta, is never taken. An
// element that has the focus and uses a key itself (tokens, matrices, sliders, buttons, boxes that scroll) keeps that
// key. If nothing has the focus, the lecture gets a key before any picture that listens to the whole page.

const TYPED = "input:not([type=range], [type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable=true], [role=combobox], [role=listbox], [role=textbox]";
const BY_ARROWS = "input, [role=radiogroup], [role=slider], [role=tablist], [role=menu]";
const PRESSED = "button, summary, a[href], [role=button]";
const ALWAYS = ["PageDown", "PageUp"];  // a presenter's remote

const isArrow = (key) => key.startsWith("Arrow") || ["Home", "End"].includes(key);
const isInside = (target, selector) => Boolean(target?.closest?.(selector));

function isFree(event) {
  const target = event.composedPath()[0];
  return !(event.ctrlKey || event.altKey || event.metaKey || isInside(target, TYPED));
}

// Whether the browser scrolls this element with this key: the element has the focus, and more content than room.
function isScrolled(node, key) {
  const { overflowX, overflowY } = getComputedStyle(node), scrolls = (overflow) => ["auto", "scroll"].includes(overflow);
  if (["ArrowLeft", "ArrowRight"].includes(key)) return scrolls(overflowX) && node.scrollWidth > node.clientWidth + 1;
  return scrolls(overflowY) && node.scrollHeight > node.clientHeight + 1;
}

// Whether the browser itself uses this key on the element that has the focus.
function isUsed(event) {
  const target = event.composedPath()[0], { key } = event;
  if (isArrow(key)) return isInside(target, BY_ARROWS) || (target instanceof Element && isScrolled(target, key));
  return [" ", "Enter"].includes(key) && isInside(target, PRESSED);
}

// `wants(key)`: whether the lecture does something with a key now; `act(key)` does it. A key that is held down counts
// once.
export function listen(wants, act) {
  const taken = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) act(event.key);
  };
  window.addEventListener("keydown", (event) => {
    if (!isFree(event) || !wants(event.key)) return;
    const target = event.composedPath()[0];
    const nowhere = !target?.closest || target === document.body || target === document.documentElement || target.matches("[data-testid=stMain]");
    if (nowhere || ALWAYS.includes(event.key) && !isInside(target, "input")) taken(event);
  }, true);
  window.addEventListener("keydown", (event) => {
    if (!event.defaultPrevented && isFree(event) && !isUsed(event) && wants(event.key)) taken(event);
  });
}
