// Copies the address of this view with the sentence in it.
//
// The sentence stands in no address before that, so whenever the server begins anew with a visitor (a reload, a lost
// connection) it would be lost: the tab keeps it, and sends it nowhere else. Each page is one entry of the tab's
// history: without that each choice would be one, and Back would seem to do nothing.

import { copyButton } from "../shared/copy.js";

const KEPT = "headlight sentence";

function oneEntryEachPage() {
  if (window.headlightHistory) return;
  window.headlightHistory = true;
  const push = history.pushState;
  history.pushState = (state, title, url) => {
    const samePage = url && new URL(url, location.href).pathname === location.pathname;
    if (samePage) history.replaceState(state, title, url); else push.call(history, state, title, url);
  };
}

// Tells a server that has only just begun the kept sentence; else keeps the one that is there.
function keep({ sentence, fresh }, setTriggerValue) {
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (!fresh) sessionStorage.setItem(KEPT, sentence);
    else if (kept !== null && kept !== sentence) setTriggerValue("kept", kept);
  } catch { /* a browser that keeps nothing */ }
}

// On a phone the menu of pages covers the page: it closes once a page is chosen.
function closeMenuOnPhones() {
  if (window.headlightMenu) return;
  window.headlightMenu = true;
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("[data-testid='stSidebarNav'] a");
    if (link && window.innerWidth < 768) document.querySelector("[data-testid='stSidebarCollapseButton'] button")?.click();
  });
}

export default function ({ data, parentElement, setTriggerValue }) {
  oneEntryEachPage();
  closeMenuOnPhones();
  keep(data, setTriggerValue);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(window.location.hostname);
  const text = () => {
    const url = new URL(window.location.href);
    if (isLocal && data.host) url.hostname = data.host;
    for (const [name, value] of Object.entries(data.texts)) url.searchParams.set(name, value);
    return url.href;
  };
  const done = "Copied. The link contains your sentence" + (isLocal && !data.host ? " and opens on this computer only." : ".");
  const help = "Link to this view, with the sentence in it";
  copyButton(parentElement.querySelector(".root"), { label: "Copy link", help, done, field: "input", text });
}
