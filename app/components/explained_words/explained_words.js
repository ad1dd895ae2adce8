// Lists the words on the page that have an explanation, as buttons. A click shows the explanation.

import { button, element, within } from "../shared/dom.js";
import { _ } from "../shared/language.js";

const NOT_READ = "code, pre, input, textarea, svg, .katex, .st-key-top, .st-key-headline, .token, .tokens, .chip, .chips, .hidden, .st-key-next_question";
const COMPONENT = '[data-testid="stBidiComponentIsolated"]';  // the host of the shadow root of a component
// Of the page and of each component. A component has its text when it is marked as drawn (components/served_scripts.py).
const CHANGES = { childList: true, characterData: true, subtree: true, attributeFilter: ["data-drawn"] };
const AFTER = 150;  // ms without a change of the page, before it is read again
const GAP = 8;  // px between a word and its explanation

// Each form as it is, or at the beginning of a sentence.
function pattern({ forms }) {
  const either = forms.map((form) => {
    const rest = form.slice(1).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return `[${form[0]}${form[0].toUpperCase()}]${rest}`;
  });
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${either.join("|")})(?![\\p{L}\\p{N}_])`, "u");
}

// The text of a part of the page that is shown, without code, formulas and tokens of the visitor's sentence.
function shownText(part) {
  const accept = (node) => (node.parentElement?.closest(NOT_READ) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT, accept), found = [];
  while (texts.nextNode()) if (texts.currentNode.parentElement?.getClientRects().length) found.push(texts.currentNode.data);
  return found.join("\n");
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root"), page = document.querySelector('[data-testid="stMainBlockContainer"]');
  const list = element("div", { class: "list", role: "group", "aria-label": _("Words on this page") });
  const explanation = element("div", { class: "explanation", popover: "auto" });
  const announced = element("p", { class: "hidden", role: "status" });  // a status has to be there before its text
  root.replaceChildren(list, explanation, announced);
  const words = data.words.map((word) => ({ ...word, pattern: pattern(word) }));
  const own = root.getRootNode(), watched = new Set();
  let waits = 0, listed = null, opened = null;
  explanation.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") return;
    opened?.setAttribute("aria-expanded", "false");
    announced.textContent = "";
  });

  function explain(word, node) {
    const box = node.getBoundingClientRect();
    opened?.setAttribute("aria-expanded", "false");
    opened = node;
    opened.setAttribute("aria-expanded", "true");
    explanation.replaceChildren(element("strong", "", null, word.forms[0]), document.createTextNode(word.text));
    explanation.showPopover();
    announced.textContent = explanation.textContent;
    const { width, height } = explanation.getBoundingClientRect();
    const below = box.bottom + GAP + height < innerHeight ? box.bottom + GAP : box.top - GAP - height;
    explanation.style.left = `${within(box.left, GAP, innerWidth - width - GAP)}px`;
    explanation.style.top = `${Math.max(below, GAP)}px`;
  }

  function read() {
    const shadows = [...page.querySelectorAll(COMPONENT)].map((host) => host.shadowRoot).filter((each) => each && each !== own);
    for (const part of [page, ...shadows]) {
      if (!watched.has(part)) changed.observe(part, CHANGES);
      watched.add(part);
    }
    const text = [page, ...shadows].map(shownText).join("\n"), found = words.filter((word) => word.pattern.test(text));
    const names = found.map((word) => word.forms[0]).join("\n");
    if (names === listed) return;
    listed = names;
    explanation.hidePopover();
    list.hidden = !found.length;
    list.replaceChildren(element("span", "title", null, _("Words on this page")));
    for (const word of found) {
      const made = button({ "aria-expanded": "false" }, list, word.forms[0], () => explain(word, made));
    }
  }

  const changed = new MutationObserver(() => {
    clearTimeout(waits);
    waits = setTimeout(read, AFTER);
  });
  read();
  return () => {
    changed.disconnect();
    clearTimeout(waits);
  };
}
