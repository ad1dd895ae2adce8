// The language of the page, as `<html lang>` says it. Streamlit writes the numbers of its own widgets in the language of the browser
// if they are "localized" (app/languages/numbers.py); for it, that is the language of the page.

export default function ({ data }) {
  document.documentElement.lang = data.language;
  if (data.language !== "en") Object.defineProperty(navigator, "languages", { get: () => [data.language], configurable: true });
}
