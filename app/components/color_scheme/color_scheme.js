// Light or dark. Streamlit keeps the choice in the browser, one for each address of a page, and reads it when the page is
// loaded; the tab keeps the sentence, and the address the rest.

import { button, element } from "../shared/dom.js";
import { isDark } from "../shared/themed.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const wanted = isDark() ? "Light" : "Dark";
  root.replaceChildren();
  button("", element("div", "buttons", root), `${wanted} theme`, () => {
    const base = window.location.pathname.replace(/[^/]*$/, "");
    for (const page of ["", ...data.pages]) localStorage.setItem(`stActiveTheme-${base}${page}-v2`, JSON.stringify(wanted));
    window.location.reload();
  });
}
