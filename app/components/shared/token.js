// A token in a page's text, or a word and a token; the mark of a word's start stands back, as in the pictures (svg.js).

export function put(parent, text) {
  for (const part of text.split(/(▁)/)) {
    const span = document.createElement("span");
    if (part === "▁") span.className = "faint";
    span.textContent = part;
    if (part) parent.append(span);
  }
}
