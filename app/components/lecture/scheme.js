// Light or dark without loading the page again, which would leave full screen. Streamlit asks the browser for the
// scheme of the system, and asks again after printing. So `matchMedia` is replaced here, and the event "afterprint" is
// sent. A theme that was chosen in the menu is stored for each page and does not follow the system. Then the stored
// theme is changed, and the page is loaded again.

import { isDark } from "../shared/themed.js";

const SCHEME = "(prefers-color-scheme: dark)";
const STORED = "stActiveTheme-";  // beginning of the names under which Streamlit stores what was chosen

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
