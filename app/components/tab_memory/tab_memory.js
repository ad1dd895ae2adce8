// The sentence is in no address, so it would be lost whenever the server begins anew with a visitor (a reload, a lost
// connection): the tab keeps it, and sends it nowhere else. Each page is one entry of the tab's history: without that
// each choice would be one, and Back would seem to do nothing.

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

export default function ({ data, setTriggerValue }) {
  oneEntryEachPage();
  if (window.top !== window) return;  // a frame shows another sentence than its tab
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (!data.fresh) sessionStorage.setItem(KEPT, data.sentence);
    else if (kept !== null && kept !== data.sentence) setTriggerValue("kept", kept);
  } catch { /* a browser that keeps nothing */ }
}
