// Light or dark. Streamlit stores the choice in the browser, for each page separately, and reads it when a page is
// loaded. So the choice is stored here for all pages, and this page is loaded again. That loses nothing: the sentence
// is stored in the tab, and everything else is in the address.

import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { isDark } from "../shared/themed.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const wanted = isDark() ? "Light" : "Dark";
  root.replaceChildren();
  button("", element("div", "buttons", root), wanted === "Light" ? _("Light theme") : _("Dark theme"), () => {
    const base = window.location.pathname.replace(/[^/]*$/, "");
    for (const page of ["", ...data.pages]) localStorage.setItem(`stActiveTheme-${base}${page}-v2`, JSON.stringify(wanted));
    window.location.reload();
  });
}
