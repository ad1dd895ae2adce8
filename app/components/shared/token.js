// A token in a page's text, or a word and a token; the mark of a word's start stands back, as in the pictures (svg.js).

// In a sentence a token has no such mark, where there is more of it.
export const inWords = (text) => text.replace(/^▁(?=.)/, "");

export function put(parent, text) {
  for (const part of text.split(/(▁)/)) {
    const span = document.createElement("span");
    if (part === "▁") span.className = "faint";
    span.textContent = part;
    if (part) parent.append(span);
  }
}
