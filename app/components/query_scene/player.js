// Plays the steps: within step 1 the query is multiplied with one key after the other, within step 4 one value after
// the other is added.

import { prefersReducedMotion } from "../shared/dom.js";

export const LAST_STEP = 4;
const AFTER = [0, 2200, 2600, 3200];  // ms that a finished step is shown before the next one begins
const PER_ROW = 240, ALL_ROWS = 3200;  // ms: for one row at most, for all rows at most

// `state.view` draws. `changed()` is called after another step, play or pause was chosen; `show(step, reached)` draws a
// step with its first `reached` rows done; `visit(step, row, ms)` is called at each row.
export function playerOf(state) {
  const count = () => state.message.keys.length;
  const later = (ms, then) => { state.timer = setTimeout(then, ms); };
  const stop = () => {
    clearTimeout(state.timer);
    [state.isPlaying, state.isRunning] = [false, false];
  };
  const finish = () => {
    clearTimeout(state.timer);
    state.isRunning = false;
    state.view.show(state.step, count());
  };
  const stepTo = (step) => {
    clearTimeout(state.timer);
    state.step = step;
    state.view.changed();
  };

  function rows(pace, row, then) {
    state.view.show(state.step, row);
    if (row === count()) {
      state.isRunning = false;
      return then();
    }
    state.view.visit(state.step, row, pace);
    later(pace, () => rows(pace, row + 1, then));
  }

  // Runs a step from its beginning.
  function run(step, then) {
    stepTo(step);
    if (prefersReducedMotion()) { finish(); return then(); }
    state.isRunning = true;
    state.view.show(step, 0);
    if (step === 1 || step === LAST_STEP) later(step === 1 ? 500 : 900, () => rows(Math.min(PER_ROW, ALL_ROWS / count()), 0, then));
    else later(60, () => { finish(); then(); });
  }
  function goOn() {
    if (state.step < LAST_STEP) return later(AFTER[state.step], () => run(state.step + 1, goOn));
    state.isPlaying = false;
    state.view.changed();
  }
  const play = () => {
    state.isPlaying = true;
    run(1, goOn);
  };
  const pause = () => {
    state.isPlaying = false;
    finish();
    state.view.changed();
  };
  return {
    finish,
    pause,
    play,
    // A later step is played; an earlier one is shown at once.
    go: (step) => {
      if (step < 1 || step > LAST_STEP) return;
      state.isPlaying = false;
      if (step > state.step) return run(step, () => {});
      stepTo(step);
      finish();
    },
    stop,
    // When the page opens, plays the scene once. If a weight was chosen before, or under prefers-reduced-motion, shows
    // the whole calculation at once.
    opens: () => {
      if (!prefersReducedMotion() && !state.message.is_chosen) return play();
      stepTo(LAST_STEP);
      finish();
    },
  };
}
