// Each choice is sent with a number, and the page answers with the newest number that it has received. Until then the
// component shows its own newest choice, not the older one of the page.

export function currentChoice(root, name, { chosen, count, received }) {
  const mine = root.headlightChoices?.[name];
  if (mine && mine.number <= received) delete root.headlightChoices[name];
  return mine && mine.number > received && mine.index < count ? mine.index : chosen;
}

// What is sent for a choice. The number is the time, so that numbers also grow after a reload.
export function numbered(root, name, index) {
  const number = (root.headlightNumber = Math.max((root.headlightNumber ?? 0) + 1, Date.now()));
  (root.headlightChoices ??= {})[name] = { number, index };
  return { name, index, number };
}
