// The tokens of a translation in one line, which scrolls if it is too long. If the page allows more lines
// (`--most-lines`, in a lecture), the translation wraps, and if it is still too long, it ends with "…". A bar below
// each token is its probability. While the canvas of the page writes the translation, the line shows what is written so
// far. A line without tokens has only what is in front of them.

import { button, element, focusedIn, prefersReducedMotion } from "../shared/dom.js";
import { _, withLabel } from "../shared/language.js";
import { percent } from "../shared/numbers.js";
import { inWords } from "../shared/token.js";
import { watchSize } from "../shared/watch_size.js";
import { onWritten, writtenCount } from "../shared/written.js";

const LATEST = 1500;  // ms until everything is shown, if no canvas writes

// Whether the canvas is about to write this translation: it is the first time that this window shows it.
function isExpected({ written, text }) {
  const known = (window.headlightLines ??= new Set()), isFirst = !known.has(text);
  known.add(text);
  return written && isFirst && !prefersReducedMotion();
}

// Hides the tokens after `lines` lines, and writes "…" in place of them.
function shorten(tokens, lines, text) {
  tokens.querySelector(".more")?.remove();
  const all = [...tokens.children];
  for (const token of all) token.hidden = false;
  const height = all[0]?.offsetHeight ?? 0, top = all[0]?.offsetTop ?? 0;
  const isBelow = (node) => node.offsetTop - top >= (lines - 0.5) * height;
  if (!all.length || !isBelow(all.at(-1))) return;
  const more = element("span", { class: "more", title: text }, tokens, "…");
  for (const token of all.toReversed()) {
    if (!isBelow(more)) break;
    token.hidden = true;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), line = element("div", "line");
  const focused = [...root.querySelectorAll("button")].indexOf(focusedIn(root));
  if (data.sentences.length > 1) {
    const group = element("div", { class: "sentences", role: "group", "aria-label": _("Sentence that is shown") }, line);
    data.sentences.forEach((text, i) => {
      const attributes = { title: text, "aria-label": _("Sentence {number}: {text}", { number: i + 1, text }), "aria-pressed": i === data.shown };
      button(attributes, group, String(i + 1), () => setTriggerValue("chosen", i));
    });
  }
  if (data.mark.words) {
    const attributes = { class: "mark", title: data.mark.help };
    const mark = data.mark.leaves ? button(attributes, line, "", () => setTriggerValue("left", true)) : element("span", attributes, line);
    element("span", "words", mark, data.mark.words);
    if (data.mark.leaves) element("span", { class: "leave", "aria-hidden": "true" }, mark, "×");
  }
  if (!data.tokens.length) {
    root.replaceChildren(line);
    root.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
    return;
  }
  const tokens = element("div", { class: "tokens picture", lang: data.lang, dir: "auto", role: "img", "aria-label": _("Translation: {text}", { text: data.text }) }, line);
  tokens.style.setProperty("--role", data.color);
  for (const { text, probability } of data.tokens) {
    const token = element("span", { title: withLabel(text, percent(probability)) }, tokens, inWords(text));
    token.style.setProperty("--share", `${100 * probability}%`);
  }
  tokens.addEventListener("keydown", (event) => {  // arrow keys scroll the line, and must not change the picture
    if (event.key.startsWith("Arrow")) event.stopPropagation();
  });
  let waits = isExpected(data);
  const showWritten = () => {
    const count = waits ? 0 : writtenCount();
    tokens.querySelectorAll(":not(.more)").forEach((token, i) => { token.style.visibility = i < count ? "" : "hidden"; });
  };
  const forget = onWritten(() => { waits = false; showWritten(); });
  const late = setTimeout(() => { waits = false; showWritten(); }, LATEST);
  showWritten();
  root.replaceChildren(line);
  root.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
  const fit = () => {
    const lines = parseInt(getComputedStyle(tokens).getPropertyValue("--most-lines"));
    tokens.classList.toggle("wraps", lines > 1);
    if (lines > 1) shorten(tokens, lines, data.text);
    else shorten(tokens, Infinity);
    const scrolls = tokens.scrollWidth > tokens.clientWidth + 1;
    tokens.classList.toggle("scrolls", scrolls);
    if (scrolls) tokens.tabIndex = 0;
    else tokens.removeAttribute("tabindex");
  };
  const watcher = watchSize(tokens, fit);  // the room changes with the parts beside it and with the window
  return () => { watcher.disconnect(); forget(); clearTimeout(late); };
}
