// Each choice is sent with a number, and the page answers with the newest number that it has received. Until then the
// component shows its own newest choice, not the older one of the page.

export function currentChoice(root, name, { chosen, count, received }) {
  const mine = root.headlightChoices?.[name];
  if (mine && mine.number <= received) delete root.headlightChoices[name];
  return mine && mine.number > received && mine.index < count ? mine.index : chosen;
}

// Whether the page has received less than before. Then it has a new session, to which what was sent before is unknown:
// the server was restarted, or the browser was away for longer than a session is kept. -1: it is not known yet.
export function isNewSession(holder, received) {
  const before = holder.headlightReceived ?? 0;
  if (received >= 0) holder.headlightReceived = received;
  return received >= 0 && received < before;
}

// What is sent for a choice. The number is the time, so that numbers also grow after a reload.
export function numbered(root, name, index) {
  const number = (root.headlightNumber = Math.max((root.headlightNumber ?? 0) + 1, Date.now()));
  (root.headlightChoices ??= {})[name] = { number, index };
  return { name, index, number };
}
