// One query and all keys. Step 1: the query goes from key to key, cell by cell, and each dot product grows as a bar.
// Step 2: all are divided by sqrt(d_k). Step 3: the softmax makes weights of them. Step 4: the values, each multiplied
// by its weight, add up to the output. All numbers are in the message: no step asks the server.

import { strongestOf, tensorsOf } from "./numbers.js";
import { playerOf } from "./player.js";
import { viewOf } from "./view.js";
import { TYPED_IN } from "../shared/arrow_keys.js";
import { focusedIn, setColors } from "../shared/dom.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { isDark, onNewColors } from "../shared/themed.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";

const KEEPS_ITS_KEYS = `${TYPED_IN}, [role=radiogroup], [role=tablist]`;  // the slider of this scene is vertical

// The left and right keys walk through the steps, unless the element that has the focus uses these keys itself.
function walk(event, state) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const from = event.composedPath()[0];
  if (!step || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || from.closest?.(KEEPS_ITS_KEYS)) return;
  event.preventDefault();
  state.player.go(state.step + step);
}

// Whether the numbers of a message are those that are drawn.
const isSame = (a, b) => ["arrays", "queries", "predicts", "keys", "colors"].every((part) => JSON.stringify(a[part]) === JSON.stringify(b[part]));

const isOther = (root, state) => Math.abs(root.clientWidth - state.view.width) > 1 || state.dark !== isDark() || state.scale !== scaleOfPage();

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const message = JSON.parse(new TextDecoder().decode(bytes));
  const chosen = (name, count) => currentChoice(root, name, { chosen: message[name], count, received: message.received });
  const before = root.scene, state = before ?? { step: 1, isPlaying: false };
  const isNew = !before || !isSame(before.message, message);
  const [query, key] = [chosen("query", message.queries.length), chosen("key", message.keys.length)];
  const isOtherScene = before && before.message.scene !== message.scene;  // of a lesson
  const isOtherPlace = query !== state.query || key !== state.key;
  Object.assign(state, { message, query, key, tensors: isNew ? tensorsOf(message) : state.tensors });

  const choose = (name, place) => {
    state.player.pause();
    state[name] = place;
    if (name === "query") state.key = strongestOf(state.tensors.row("weights", place));
    state.view.chosen();
    setTriggerValue("chosen", numbered(root, name, place));
  };
  const draw = () => {
    setColors(root, message.colors);
    const place = [...root.querySelectorAll("button, [tabindex]")].indexOf(focusedIn(root));
    const view = viewOf(root, state, choose);
    const changed = view.changed;
    // On a phone each step has columns of its own, so another step is drawn from the beginning.
    view.changed = () => { if (view.step && view.step !== state.step) { draw(); } else changed(); };
    state.view = view;
    [state.dark, state.scale] = [isDark(), scaleOfPage()];
    view.show(state.step, message.keys.length);
    changed();
    if (place >= 0) root.querySelectorAll("button, [tabindex]")[place]?.focus({ preventScroll: true });
  };
  root.scene = state;
  root.draw = draw;
  state.player ??= playerOf(state);
  if (isNew || isOtherPlace || isOtherScene) {
    state.player.stop();
    draw();
  }
  if (!before) {
    watchSize(root, () => { if (isOther(root, state)) root.draw(); });
  }
  if (!before || isOtherScene) state.player.opens();
  const keys = (event) => walk(event, state);
  document.addEventListener("keydown", keys);
  onNewColors(() => { if (isOther(root, state)) root.draw(); });
  return () => {
    document.removeEventListener("keydown", keys);
    if (!root.isConnected) state.player.stop();
  };
}
