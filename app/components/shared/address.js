// What is chosen in the browser is written into the address at once, by the names of app/state/choices.py. So a reload
// keeps it, even if the server has not answered yet. The value null removes a choice from the address.

export function writeInAddress(chosen) {
  if (!window.location.protocol.startsWith("http")) return;  // a component alone on an empty page
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(chosen)) {
    if (value === null) url.searchParams.delete(name); else url.searchParams.set(name, value);
  }
  window.history.replaceState(window.history.state, "", url);
}
