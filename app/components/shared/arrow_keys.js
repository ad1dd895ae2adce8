// In a row with one chosen item: the number of the item that an arrow key, Home or End chooses; undefined for other
// keys.

export function asked(event, chosen, count) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const goal = step ? chosen + step : { Home: 0, End: count - 1 }[event.key];
  if (goal === undefined) return undefined;
  event.preventDefault();
  event.stopPropagation();
  return Math.min(Math.max(goal, 0), count - 1);
}

// Marks another button of a row as chosen before the page is drawn again, so that the next key starts from it.
export function marked(row, index) {
  [...row.children].forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === index));
    button.tabIndex = i === index ? 0 : -1;
  });
  row.children[index].focus({ preventScroll: true });
  return index;
}
