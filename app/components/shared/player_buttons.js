// Back, Play and Next, on the pages that go through steps: the same words in the same order everywhere.

import { button, element, setDisabled } from "./dom.js";
import { _ } from "./language.js";

// What the button says that begins and ends playing.
export const playText = (isPlaying) => (isPlaying ? _("Pause") : _("Play"));

// Makes the three buttons in `parent`. At the first and at the last step Back and Next look disabled but keep the focus,
// so what they do has to allow for it.
export function playerButtons(parent, { back, play, next }) {
  const row = element("div", "player", parent);
  const buttons = [button("", row, _("Back"), back), button("play", row, playText(false), play), button("", row, _("Next"), next)];
  return {
    buttons,
    showPlaying: (isPlaying) => { buttons[1].textContent = playText(isPlaying); },
    showPlace: (isFirst, isLast) => {
      setDisabled(buttons[0], isFirst);
      setDisabled(buttons[2], isLast);
    },
  };
}
