// What a hint tells a reader to do: with a mouse to point and click, on a touch screen to tap. Hints are written for a
// mouse, and `forTouch` replaces "click" by "tap". A hint that says "Point at" has a second text for touch screens,
// which its caller chooses with `byTouch`.

import { _ } from "./language.js";

export const byTouch = () => matchMedia("(hover: none)").matches;

const verb = (word) => new RegExp(`${word}(?!\\p{L})`, "gu");

// A hint with the words for a finger, if the reader has no mouse: "Click" is "Tap".
export const forTouch = (text) => (byTouch() ? text.replace(verb(_("Click")), _("Tap")).replace(verb(_("click")), _("tap")) : text);
