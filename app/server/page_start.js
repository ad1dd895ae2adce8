// Runs before anything else of the page that opens the app.

// The address of the server, so that no other one is tried.
window.__streamlit = { BACKEND_BASE_URL: new URL("./", location.href).href };
try {
  const { dataset } = document.documentElement;
  // The theme that the visitor chose for this page (components/color_scheme). Streamlit reads it later, when it draws;
  // until then page.css has the background.
  const [scheme] = /light|dark/.exec((localStorage.getItem(`stActiveTheme-${location.pathname}-v2`) ?? "").toLowerCase()) ?? [];
  if (scheme) dataset.chosenScheme = scheme;
  // A page in a frame of the page Side by side; page.css leaves out what the page around the frame shows.
  if (new URLSearchParams(location.search).has("framed")) dataset.framed = "";
  // If the tab has a sentence of its own, the page first draws the example of every visitor, and is hidden until it has
  // received that sentence (components/tab_memory); after 5 s in any case.
  if (window.top === window && sessionStorage.getItem("headlight sentence") !== null) {
    dataset.restores = "";
    setTimeout(() => { delete dataset.restores; }, 5000);
  }
} catch { /* the browser stores nothing */ }
