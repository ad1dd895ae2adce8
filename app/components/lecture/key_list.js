// The list of the keys, over the page.

import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

const OF_LESSON = [
  ["→ ←", _("next and previous scene, with title and picture")],
  [_("PageDown, Space"), _("next scene, with its sentences shown (a presenter's remote sends these keys); PageUp: the scene before")],
  ["↓ ↑", _("show the sentences, then the question (1 to 5 answer it), then its answer; ↑ hides them")],
  [_("Home End"), _("first and last scene")],
];
const OF_PAGES = [["→ ←", _("next and previous page (also PageDown, Space, PageUp)")]];
const OF_BOTH = [
  ["S", _("another sentence: type it, Enter translates it, the scene stays")],
  ["C", _("class: the code with which phones follow the lecture and answer its questions")],
  ["L", _("light or dark")],
  ["B", _("black screen, until a key is pressed")],
  ["F", _("full screen")],
  ["?", _("this list")],
  [_("P, Escape"), _("leave the lecture; if the focus is in a picture, the first Escape only takes it back to the lecture")],
];

// `takeHome` opens the files for the class.
export function keyList(root, lesson, takeHome) {
  const list = element("dialog", { class: "keys", "aria-label": _("Keys of the lecture") }, root);
  const table = element("dl", "", list);
  for (const [keys, what] of [...(lesson ? OF_LESSON : OF_PAGES), ...OF_BOTH]) {
    element("dt", "", table, keys);
    element("dd", "", table, what);
  }
  const row = element("div", "buttons", list);
  if (lesson) button("", row, _("Open the presenter's window"), () => { list.close(); openPresenter(lesson); });
  if (lesson) button("", row, _("Take home …"), () => { list.close(); takeHome(); });
  button("", row, _("Close"), () => list.close());
  list.addEventListener("close", () => list.remove());
  list.showModal();
  return list;
}

function openPresenter(lesson) {
  const address = new URL(window.location.pathname.replace(/[^/]*$/, ""), window.location.href);
  const lang = new URLSearchParams(window.location.search).get("lang");
  address.search = new URLSearchParams({ presenter: 1, lesson, ...(lang && { lang }) });
  window.open(address, "headlight presenter", "popup,width=900,height=700");
}
