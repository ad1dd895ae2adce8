// Light or dark. Streamlit keeps the choice in the browser, one for each address of a page, and reads it when the page is
// loaded; the tab keeps the sentence, and the address the rest.

import { isDark } from "../shared/themed.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const row = document.createElement("div"), button = document.createElement("button");
  row.className = "buttons";
  button.type = "button";
  const wanted = isDark() ? "Light" : "Dark";
  button.textContent = `${wanted} theme`;
  button.addEventListener("click", () => {
    const base = window.location.pathname.replace(/[^/]*$/, "");
    for (const page of ["", ...data.pages]) localStorage.setItem(`stActiveTheme-${base}${page}-v2`, JSON.stringify(wanted));
    window.location.reload();
  });
  row.append(button);
  root.replaceChildren(row);
}
