// The sentence is in no address, so it would be lost whenever the server starts a new session for a visitor (a reload,
// a lost connection). The tab stores it, and sends it only back to the app.
//
// Each page is one entry of the tab's history, and so is each model that is opened on it. Otherwise each choice would
// be an entry, and Back would seem to do nothing. The next page begins at its top. A closed drop-down list, whose text
// may be cut, shows the whole text when it is pointed at.

import { Resend } from "../shared/resend.js";
import { isRunning } from "../shared/script_state.js";

const KEPT = "headlight sentence";

// The model in an address. All snapshots of a run are one model.
const modelOf = (address) => (new URL(address, location.href).searchParams.get("checkpoint") ?? "").replace(/, update \d+$/, "");

function oneEntryEachPage() {
  if (window.headlightHistory) return;
  window.headlightHistory = true;
  const push = history.pushState;
  let model = modelOf(location.href);  // kept here, because the address of a page that is being opened has none yet
  window.addEventListener("popstate", () => { model = modelOf(location.href); });
  history.pushState = (state, title, url) => {
    const samePage = url && new URL(url, location.href).pathname === location.pathname;
    if (samePage && modelOf(url) === model) {
      history.replaceState(state, title, url);
      return;
    }
    push.call(history, state, title, url);
    if (samePage) model = modelOf(url);
    else document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  };
}

function showWholeTextsOnHover() {
  if (window.headlightNames) return;
  window.headlightNames = true;
  document.addEventListener("pointerover", ({ target }) => {
    if (target instanceof HTMLInputElement && target.role === "combobox") target.title = target.value;
  });
}

const QUIET = 8;  // frames in which nothing is computed and nothing drawn, after which the page counts as drawn

// The page is hidden while it still has the example (server/page_start.js). It is shown when it has drawn the sentence of
// the tab: at once if it draws that first, else (restores is "asked") when the script has run again and all is drawn.
function showPage() {
  const { dataset } = document.documentElement;
  if (dataset.restores !== "asked") {
    delete dataset.restores;
    return;
  }
  let frames = 0, drawn;
  const look = () => {
    frames = isRunning() || drawn !== window.headlightDrawn ? 0 : frames + 1;
    drawn = window.headlightDrawn;
    if (frames < QUIET) requestAnimationFrame(look);
    else delete dataset.restores;
  };
  look();
}

export default function ({ data, setTriggerValue }) {
  oneEntryEachPage();
  showWholeTextsOnHover();
  if (window.top !== window) return;  // a frame shows another sentence than its tab
  const sending = (window.headlightMemory ??= new Resend());
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (data.fresh && kept !== null && kept !== data.sentence) {
      sending.choose({ number: 0, kept }, (choice) => setTriggerValue("kept", choice.kept));
      if (document.documentElement.dataset.restores !== undefined) document.documentElement.dataset.restores = "asked";
      return;
    }
    if (!data.fresh) {
      sending.received(Infinity);
      sessionStorage.setItem(KEPT, data.sentence);
    }
    showPage();
  } catch { /* the browser stores nothing */ }
}
