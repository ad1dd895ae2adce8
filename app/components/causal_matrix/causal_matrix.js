// The causal mask on a translation: one head's attention as a matrix. Rows are queries, columns are keys, and masked
// cells are hatched. A switch removes the mask (hatched cells show their weights in red, and the predictions change) or
// shows the scores before it. The message has both passes and the scores, as base64 of float32, so the switch needs no
// server. `given` says which pass is shown: then there is no switch. `height` is the height of the picture.
// `pinsGiven` changes when the page has pinned a cell.

import { writeInAddress } from "../shared/address.js";
import { numbersIn } from "../shared/arrays.js";
import { element, focusedIn, setColors } from "../shared/dom.js";
import { byTouch } from "../shared/hints.js";
import { _ } from "../shared/language.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { layerAndHead } from "../shared/number_list.js";
import { radios } from "../shared/radios.js";
import { watchWidth } from "../shared/watch_size.js";
import { matrix } from "./matrix.js";
import { cellSentence, leaks, score, shareOnLaterTokens } from "./words.js";

const SHOWN = [_("With the mask"), _("Without it"), _("Scores before it")], FREE = 1, SCORES = 2;  // places in the switch

// For a new sentence, or if the page has pinned a cell: frames the pinned cell, or one near the beginning.
function begin(state, sentence, { reads, pinned, pinsGiven }) {
  const last = reads.length - 1, isThere = pinned?.every((index) => index >= 0 && index <= last);
  const [query, key] = isThere ? pinned : [Math.min(1, last), Math.min(2, last)];
  Object.assign(state, { sentence, pinsGiven, query, key, pinned: isThere ? { query, key } : null });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (root.headlight ??= { free: false });
  const sentence = JSON.stringify([data.reads, data.predicts]);
  if (state.sentence !== sentence || state.pinsGiven !== data.pinsGiven) begin(state, sentence, data);
  state.data = data;
  const isGiven = data.given !== undefined;
  const shown = isGiven ? Number(data.given) : currentChoice(root, "mask", { chosen: data.shown, count: SHOWN.length, received: data.received });
  const show = (index) => { state.free = index === FREE; state.shownScores = index === SCORES ? numbersIn(data.scores.values) : null; };
  show(shown);
  state.passes = [data.masked, data.free].map((pass) => ({ ...pass, weights: numbersIn(pass.weights), mask: numbersIn(pass.mask, "u1") }));
  setColors(root, data.colors);

  const active = focusedIn(root), focused = active?.dataset.name, wasPointed = active?.matches(".picture");
  const onSwitch = Boolean(active?.closest(".segments"));
  root.replaceChildren();
  if (data.heading) {
    const heading = element("div", "heading", root);
    element("h3", "", heading, data.heading);
    element("span", "note", heading, _("the switch changes only this picture"));
  }
  const tools = element("div", "tools", root), stage = element("div", "", root);
  const scores = element("p", { class: "score", "aria-live": "polite" }, isGiven ? null : root);
  const status = element("p", { class: "status", "aria-live": "polite" }, root);
  const report = (value) => setTriggerValue("chosen", value);
  const take = (index) => { show(index); update(); report(numbered(root, "mask", index)); };
  if (!isGiven) {
    const { buttons } = radios(element("div", "segments", tools), _("Causal mask"), SHOWN, shown, take);
    buttons[FREE].className = "taken";
    buttons[SCORES].title = _("q·k/√d_k of every query and key, before the mask");
  }
  const heads = element("div", "group", tools), leaked = element("span", "leaked", tools, shareOnLaterTokens(state));
  layerAndHead(heads, root, data, report);

  const may = () => state.passes[Number(state.free)].mask[state.query * data.reads.length + state.key];
  const does = () => {
    if (data.clickable && may()) return byTouch() ? _("Tap to forbid it.") : _("Click to forbid it.");
    if (data.clickable) return byTouch() ? _("Tap to allow it.") : _("Click to allow it.");
    if (data.pinned && !state.pinned) return byTouch() ? _("Tap to pin this cell.") : _("Click to pin this cell.");
    return "";
  };
  const words = () => `${cellSentence(state)} ${does()}`.trimEnd();
  const pin = (cell) => {
    if (!data.pinned || cell === state.pinned) return;
    state.pinned = cell;
    writeInAddress({ mask_cell: cell && `${cell.query + 1}.${cell.key + 1}` });
    picture.point();
    status.textContent = words();
    setTriggerValue("pinned", cell ?? { query: -1, key: -1 });
  };
  const clicked = () => {
    const { query, key, pinned } = state;
    if (data.clickable) setTriggerValue("clicked", { query, key });
    else pin(pinned?.query === query && pinned.key === key ? null : { query, key });
  };
  let picture;
  function update() {
    picture.update();
    leaked.style.visibility = state.free && leaks(state) ? "" : "hidden";
    scores.textContent = score(state);
    status.textContent = words();
  }
  function draw() {
    const hadFocus = focusedIn(stage);
    picture = matrix(root, stage, state, () => { status.textContent = words(); }, clicked, () => pin(null));
    update();
    if (hadFocus) stage.firstElementChild.focus({ preventScroll: true });
  }
  draw();
  if (wasPointed) stage.firstElementChild.focus({ preventScroll: true });
  if (onSwitch) root.querySelector(".segments [aria-checked=true]")?.focus({ preventScroll: true });
  if (focused) root.querySelector(`select[data-name="${focused}"]`)?.focus({ preventScroll: true });
  return watchWidth(root, draw);
}
