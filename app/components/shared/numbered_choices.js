// A choice on its way to the page is numbered, and the page says which number it heard last. What was drawn before it
// heard would take the choice back, and the next key would count on from there; so until then the newest choice stands.

export function standing(root, name, { chosen, count, heard }) {
  const mine = root.headlightChoices?.[name];
  if (mine && mine.number <= heard) delete root.headlightChoices[name];
  return mine && mine.number > heard && mine.index < count ? mine.index : chosen;
}

// What is sent; the clock, so that a page that is loaded again counts on.
export function numbered(root, name, index) {
  const number = (root.headlightNumber = Math.max((root.headlightNumber ?? 0) + 1, Date.now()));
  (root.headlightChoices ??= {})[name] = { number, index };
  return { name, index, number };
}
