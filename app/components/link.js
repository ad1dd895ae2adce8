// Copies the address of this view with the sentence in it. Where the browser keeps the clipboard closed (plain http
// from another machine), the address appears, selected, to be copied by hand.
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
  const root = parentElement.querySelector(".root");
  const row = document.createElement("div");
  row.className = "buttons";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy link";
  button.title = "The address of this view, with the sentence in it";
  const note = document.createElement("span");
  note.className = "note";
  note.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const url = new URL(window.location.href);
    for (const [name, text] of Object.entries(data.texts)) url.searchParams.set(name, text);
    for (const name of data.boxes) {
      const box = document.querySelector(`.st-key-${name} input`);
      if (box) url.searchParams.set(name, box.value);
    }
    try {
      await navigator.clipboard.writeText(url.href);
      note.textContent = "Copied. The link contains your sentence.";
    } catch {
      const field = document.createElement("input");
      field.readOnly = true;
      field.value = url.href;
      field.setAttribute("aria-label", "Link to this view");
      row.replaceChildren(button, field);
      field.select();
    }
  });
  row.append(button, note);
  root.replaceChildren(row);
}
