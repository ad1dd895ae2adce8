// A token in a page's text, or a word and a token; the mark of a word's start stands back, as in the pictures (svg.js).

import { element } from "./dom.js";

// In a sentence a token has no such mark, where there is more of it.
export const inWords = (text) => text.replace(/^▁(?=.)/, "");
export const quoted = (text) => `“${inWords(text)}”`;

export function put(parent, text) {
  for (const part of text.split(/(▁)/)) {
    if (part) element("span", part === "▁" ? "faint" : "", parent, part);
  }
}
