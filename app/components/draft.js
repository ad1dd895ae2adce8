// Nothing to see: tells the server what stands in the watched input when it is left without Enter, if that is news.
//
// Trap: Streamlit gathers what widgets say for a moment, while a click on another page goes at once and would be taken
// back by what comes after it. So such a click waits (test_what_was_typed_goes_along_to_another_page).

const WAIT = 250;  // ms

export default function ({ data, setStateValue }) {
  let since = -Infinity;
  const left = (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || input.getAttribute("aria-label") !== data.watches) return;
    if (input.value === data.text) return;
    since = performance.now();
    setStateValue("left", { text: input.value, when: Date.now() });
  };
  const clicked = (event) => {
    const link = event.target instanceof Element && event.target.closest("[data-testid='stSidebarNav'] a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || performance.now() - since > WAIT) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    since = -Infinity;
    setTimeout(() => link.click(), WAIT);
  };
  document.addEventListener("focusout", left);
  document.addEventListener("click", clicked, true);
  return () => {
    document.removeEventListener("focusout", left);
    document.removeEventListener("click", clicked, true);
  };
}
