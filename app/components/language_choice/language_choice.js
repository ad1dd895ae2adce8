// The language of the interface. It is in the address, and the page is loaded again in another one: the sentence is stored
// in the tab, everything else is in the address.

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
