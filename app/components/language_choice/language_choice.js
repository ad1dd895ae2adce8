// The language of the interface. It is in the address, so another language loads the page again. That loses nothing:
// the sentence is stored in the tab, and everything else is in the address.

import { button, element } from "../shared/dom.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  root.replaceChildren();
  const line = element("div", "buttons", root);
  for (const [language, name] of Object.entries(data.names)) {
    if (language === data.chosen) continue;
    button("", line, name, () => {
      const address = new URL(window.location);
      address.searchParams.set(data.key, language);
      window.location.assign(address);
    }).lang = language;
  }
}
