// Two pages of this app in frames. The page in a frame is at most WIDTH wide, so it has the layout of a phone, and is
// enlarged to the room of the frame, so that its font size follows the window. Trap: another `src` would add an entry
// to the history of the tab, and Back would seem to do nothing. So another address makes another frame
// (test_another_address_of_a_frame_is_not_an_entry_in_the_history_of_the_tab).

import { element } from "../shared/dom.js";
import { watchSize } from "../shared/watch_size.js";

const WIDTH = 620;  // px, of the page in a frame

function fit(place) {
  const wide = Math.min(place.clientWidth, WIDTH), scale = place.clientWidth / wide;
  Object.assign(place.firstChild.style, { width: `${wide}px`, height: `${place.clientHeight / scale}px`, transform: `scale(${scale})` });
}

// The page in a frame replaces its entry in the history of the tab instead of adding entries.
function replaceEntries(history) {
  history.pushState = (...entry) => history.replaceState(...entry);
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const all = root.querySelector(".frames") ?? element("div", "frames picture", root);
  while (all.children.length > data.sides.length) all.lastChild.remove();
  data.sides.forEach(({ name, address }, i) => {
    const side = all.children[i] ?? element("div", "", all);
    if (!side.firstChild) {
      element("p", "name", side);
      element("div", "place", side);
    }
    const [title, place] = side.children;
    title.textContent = name;
    if (side.dataset.address !== address) {
      side.dataset.address = address;
      const frame = element("iframe", { title: name, src: new URL(address, window.location.href).href });
      frame.addEventListener("load", () => replaceEntries(frame.contentWindow.history));
      place.replaceChildren(frame);
    }
    place.firstChild.title = name;
    fit(place);
  });
  const watcher = watchSize(all, () => all.querySelectorAll(".place").forEach(fit));
  return () => watcher.disconnect();
}
