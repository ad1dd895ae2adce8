// Of a row of which one is chosen: which one a key asks for. undefined if the key is none of ours.

function asked(event, chosen, count) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const goal = step ? chosen + step : { Home: 0, End: count - 1 }[event.key];
  if (goal === undefined) return undefined;
  event.preventDefault();
  event.stopPropagation();
  return Math.min(Math.max(goal, 0), count - 1);
}
