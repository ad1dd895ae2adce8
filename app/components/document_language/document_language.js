// The language of the page, as `<html lang>` says it. Streamlit writes the numbers of its own widgets in the language of the browser
// if they are "localized" (`widget_format` in app/languages/numbers.py); for it, that is the language of the page.

import { localised } from "../shared/numbers.js";

const DECIMAL = /^[−-]?\d+\.\d+$/;

// The numbers of sliders that were drawn before.
function rewrite() {
  for (const slider of document.querySelectorAll('[data-testid="stSlider"]')) {
    const texts = document.createTreeWalker(slider, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) if (DECIMAL.test(texts.currentNode.data)) texts.currentNode.data = localised(texts.currentNode.data);
  }
}

export default function ({ data }) {
  document.documentElement.lang = data.language;
  if (data.language === "en") return;
  Object.defineProperty(navigator, "languages", { get: () => [data.language], configurable: true });
  rewrite();
}
