// How a hint names what to do: with a mouse one points and clicks, on a touch screen one taps. Hints are written for a
// mouse, and `forTouch` changes "click"; one that says "Point at" has another text for a finger, chosen by `byTouch`.

import { _ } from "./language.js";

export const byTouch = () => matchMedia("(hover: none)").matches;

const verb = (word) => new RegExp(`${word}(?!\\p{L})`, "gu");

// A hint with the words for a finger, if the reader has no mouse: "Click" is "Tap".
export const forTouch = (text) => (byTouch() ? text.replace(verb(_("Click")), _("Tap")).replace(verb(_("click")), _("tap")) : text);
