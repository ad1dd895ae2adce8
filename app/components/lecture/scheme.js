// Switches between light and dark. If no theme is stored, the page is not loaded again, because that would leave full
// screen: Streamlit asks `matchMedia` for the scheme of the system, and asks again after printing. So `matchMedia` is
// replaced here, and the event "afterprint" is sent. A theme that was chosen in the menu is stored, once for each page,
// and does not follow the system. In that case the stored themes are changed, and the page is loaded again.

import { isDark } from "../shared/themed.js";

const SCHEME = "(prefers-color-scheme: dark)";
const STORED = "stActiveTheme-";  // beginning of the keys under which Streamlit stores a chosen theme

export function otherScheme() {
  const wanted = !isDark(), stored = Object.keys(localStorage).filter((name) => name.startsWith(STORED));
  if (stored.length) {
    for (const name of stored) localStorage.setItem(name, JSON.stringify(wanted ? "Dark" : "Light"));
    return window.location.reload();
  }
  const asked = (window.headlightMatchMedia ??= window.matchMedia.bind(window));
  window.matchMedia = (query) => {
    const found = asked(query);
    if (query !== SCHEME) return found;
    return new Proxy(found, {
      get(target, name) {
        if (name === "matches") return wanted;
        const value = target[name];
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  window.dispatchEvent(new Event("afterprint"));
}
