// Underlines the first occurrence of each word on the page that has an explanation, and lists these words as buttons. A
// click on either shows the explanation. The text of the page is not changed: it belongs to Streamlit, and is only
// highlighted (page.css has the style).

import { button, element, within } from "../shared/dom.js";
import { _ } from "../shared/language.js";

const NOT_READ = 'code, pre, button, a, summary, input, textarea, svg, h1, .katex, [class*="st-key-top"], .st-key-headline, [data-testid="stTooltipHoverTarget"]';
const AFTER = 150;  // ms without a change of the page, before it is read again
const GAP = 8;  // px between a word and its explanation

// Each form as it is, or at the beginning of a sentence.
function pattern(words) {
  const forms = words.flatMap((word) => word.forms).sort((a, b) => b.length - a.length);
  const either = forms.map((form) => {
    const rest = form.slice(1).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return `[${form[0]}${form[0].toUpperCase()}]${rest}`;
  });
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${either.join("|")})(?![\\p{L}\\p{N}_])`, "gu");
}

// Map from each word that is on the page to the range of its first occurrence.
function occurrences(page, words, forms) {
  const wordOf = (text) => words.find((word) => word.forms.some((form) => form.toLowerCase() === text.toLowerCase()));
  const accept = (node) => (node.parentElement.closest(NOT_READ) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const texts = document.createTreeWalker(page, NodeFilter.SHOW_TEXT, accept), found = new Map();
  while (texts.nextNode()) {
    for (const match of texts.currentNode.data.matchAll(forms)) {
      const word = wordOf(match[0]);
      if (found.has(word)) continue;
      const range = new Range();
      range.setStart(texts.currentNode, match.index);
      range.setEnd(texts.currentNode, match.index + match[0].length);
      if (range.getClientRects().length) found.set(word, range);
    }
  }
  return new Map(words.filter((word) => found.has(word)).map((word) => [word, found.get(word)]));
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root"), page = document.querySelector('[data-testid="stMainBlockContainer"]');
  const list = element("div", { class: "list", role: "group", "aria-label": _("Words on this page") });
  const explanation = element("div", { class: "explanation", popover: "auto", role: "status" });
  root.replaceChildren(list, explanation);
  const forms = pattern(data.words);
  let found = new Map(), underlined = null, waits = 0, frame = 0;

  function explain(word, box) {
    explanation.replaceChildren(element("strong", "", null, word.forms[0]), document.createTextNode(word.text));
    explanation.showPopover();
    const { width, height } = explanation.getBoundingClientRect();
    const below = box.bottom + GAP + height < innerHeight ? box.bottom + GAP : box.top - GAP - height;
    explanation.style.left = `${within(box.left, GAP, innerWidth - width - GAP)}px`;
    explanation.style.top = `${Math.max(below, GAP)}px`;
  }

  function read() {
    found = occurrences(page, data.words, forms);
    if (CSS.highlights) CSS.highlights.set("explained", underlined = new Highlight(...found.values()));
    list.hidden = !found.size;
    const shown = [...list.querySelectorAll("button")].map((each) => each.textContent);
    if (shown.join() === [...found.keys()].map((word) => word.forms[0]).join()) return;
    list.replaceChildren(element("span", "title", null, _("Words on this page")));
    for (const word of found.keys()) {
      const made = button("", list, word.forms[0], () => explain(word, made.getBoundingClientRect()));
    }
  }

  // The word at this point of the window and its box, if it is underlined there.
  function at({ clientX: x, clientY: y }) {
    for (const [word, range] of found) {
      const box = [...range.getClientRects()].find((each) => x >= each.left && x <= each.right && y >= each.top && y <= each.bottom);
      if (box && document.elementFromPoint(x, y)?.contains(range.startContainer)) return { word, box };
    }
    return null;
  }

  const clicked = (event) => {
    const hit = CSS.highlights && at(event);
    if (hit) explain(hit.word, hit.box);
  };
  const moved = (event) => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => { page.style.cursor = CSS.highlights && at(event) ? "help" : ""; });
  };
  const changed = new MutationObserver(() => {
    clearTimeout(waits);
    waits = setTimeout(read, AFTER);
  });
  page.addEventListener("click", clicked);
  page.addEventListener("mousemove", moved);
  changed.observe(page, { childList: true, characterData: true, subtree: true });
  read();
  return () => {
    changed.disconnect();
    clearTimeout(waits);
    cancelAnimationFrame(frame);
    page.removeEventListener("click", clicked);
    page.removeEventListener("mousemove", moved);
    page.style.cursor = "";
    if (underlined && CSS.highlights.get("explained") === underlined) CSS.highlights.delete("explained");  // it may be that of the next call
  };
}
