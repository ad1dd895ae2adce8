// The buttons: back, play and next, and one for each step, above the columns that it fills.

import { SHORT_STEPS, STEPS } from "./sentences.js";
import { LAST_STEP } from "./player.js";
import { button } from "../shared/dom.js";
import { typeset } from "../shared/formula.js";
import { _ } from "../shared/language.js";
import { playerButtons } from "../shared/player_buttons.js";

// Returns a function that updates the buttons: which step is shown and whether the scene plays.
export function panelOf(state, { places, steps, columns, divisor }) {
  const named = STEPS.map((name, i) => {
    const text = columns.isNarrow ? SHORT_STEPS[i] : `${i + 1}  ${i === 1 ? divisor : name}`;
    const node = button("step", steps, undefined, () => state.player.go(i + 1));
    typeset(node, text);
    node.setAttribute("aria-label", _("Step {number}: {name}", { number: i + 1, name }));
    Object.assign(node.style, { left: `${columns.steps[i].x / 16}rem`, width: `${columns.steps[i].w / 16}rem` });
    return node;
  });
  const player = playerButtons(places, {
    back: () => state.player.go(state.step - 1),
    play: () => (state.isPlaying ? state.player.pause() : state.player.play()),
    next: () => state.player.go(state.step + 1),
  });
  return () => {
    named.forEach((node, i) => node.setAttribute("aria-current", i + 1 === state.step ? "step" : "false"));
    player.showPlaying(state.isPlaying);
    player.showPlace(state.step === 1, state.step === LAST_STEP);
  };
}
