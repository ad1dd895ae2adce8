// Copies the address of this view with the sentence in it. After copying.js, with which it is one script.
//
// The sentence stands in no address before that, so whenever the server begins anew with a visitor (a reload, a lost
// connection) it would be lost: the tab keeps it, and sends it nowhere else. Each page is one entry of the tab's
// history: without that each choice would be one, and Back would seem to do nothing.

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

export default function ({ data, parentElement, setTriggerValue }) {
  oneEntryEachPage();
  keep(data, setTriggerValue);
  const text = () => {
    const url = new URL(window.location.href);
    for (const [name, value] of Object.entries(data.texts)) url.searchParams.set(name, value);
    for (const name of data.boxes) {
      const box = document.querySelector(`.st-key-${name} input`);
      if (box) url.searchParams.set(name, box.value);
    }
    return url.href;
  };
  const done = "Copied. The link contains your sentence.", help = "Link to this view, with the sentence in it";
  copyButton(parentElement.querySelector(".root"), { label: "Copy link", help, done, field: "input", text });
}
