// Writes a token, or a word and a token, as text. The mark of a word's start (▁) is shown only where the tokenizer is
// the topic, and it is faint there.

import { element } from "./dom.js";
import { _ } from "./language.js";

const CONTROL = ["<s>", "</s>", "<pad>"];  // as in app/figures/head_sharpness.py

export const isControl = (token) => CONTROL.includes(token);  // a token that the model adds, not one of the text
export const inWords = (text) => text.replace(/▁(?=\S)/g, "");
export const quoted = (text) => _("“{token}”", { token: inWords(text) });
export const put = (parent, text) => element("span", "", parent, inWords(text));

export function putWithMarks(parent, text) {
  for (const part of text.split(/(▁)/)) {
    if (part) element("span", part === "▁" ? "faint" : "", parent, part);
  }
}
