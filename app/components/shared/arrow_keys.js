// Keys that move a choice: arrows, Home, End. With Alt, Ctrl or Meta they are the browser's (Alt+ArrowLeft: back).

import { handled, within } from "./dom.js";

// Elements in which a text is typed, and elements that use the arrow keys themselves.
export const TYPED_IN = "input, textarea, select, [contenteditable=true], [role=combobox], [role=listbox]";
export const USES_ARROW_KEYS = `${TYPED_IN}, [role=radiogroup], [role=slider], [role=tablist]`;

export const ARROW_STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };  // rows, columns

export const isOfBrowser = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;

// In a grid: the cell [row, column] to which an arrow key leads from this one; undefined for other keys.
export function cellByKey(event, [row, column], rows, columns) {
  const step = ARROW_STEPS[event.key];
  if (!step || isOfBrowser(event)) return undefined;
  handled(event);
  return [within(row + step[0], 0, rows - 1), within(column + step[1], 0, columns - 1)];
}

// In a row with one chosen item: the number of the item that a key chooses; undefined for other keys.
export function itemByKey(event, chosen, count) {
  const step = ARROW_STEPS[event.key];
  const goal = step ? chosen + step[0] + step[1] : { Home: 0, End: count - 1 }[event.key];
  if (goal === undefined || isOfBrowser(event)) return undefined;
  handled(event);
  return within(goal, 0, count - 1);
}

// Marks another button of a row as chosen before the page is drawn again, so that the next key starts from it.
export function markChosen(row, index) {
  [...row.children].forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === index));
    button.tabIndex = i === index ? 0 : -1;
  });
  row.children[index].focus({ preventScroll: true });
  return index;
}
