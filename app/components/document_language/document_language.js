// Sets <html lang>, and makes Streamlit use that language. Streamlit writes the "localized" numbers of its widgets
// (`widget_format` in app/languages/numbers.py) in the first language of navigator.languages, which is replaced here.

import { localised } from "../shared/numbers.js";

const DECIMAL = /^[−-]?\d+\.\d+$/;

// Rewrites the numbers of sliders that are drawn already.
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
