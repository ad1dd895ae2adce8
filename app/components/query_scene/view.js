// Draws the scene for the width of its root. It is drawn again for another width, and on a phone for another step.
// `state` has the step, the query and the key that are shown.

import { columnsOf } from "./columns.js";
import { animationsOf } from "./strip_animations.js";
import { FOOT, HEAD, footOf, headOf } from "./frame.js";
import { weighted } from "./numbers.js";
import { panelOf } from "./panel.js";
import { LAST_STEP } from "./player.js";
import { keyRows } from "./rows.js";
import { follow } from "./pointer.js";
import { rowInWords, sentenceOf } from "./sentences.js";
import { element, within } from "../shared/dom.js";
import { typeset } from "../shared/formula.js";
import { _ } from "../shared/language.js";
import { make, measurer } from "../shared/svg.js";
import { scaleOfPage } from "../shared/watch_size.js";
import { wordsOf } from "../shared/words.js";

function picture(className, width, height, parent) {
  return make("svg", { class: `picture ${className}`, viewBox: `0 0 ${width} ${height}`, "data-stacked": "", style: `height:${height / 16}rem` }, parent);
}

// `choose("query" or "key", place)` is called when the reader chooses another one.
export function viewOf(root, state, choose) {
  const { message, tensors } = state, count = message.keys.length;
  const width = Math.max(root.clientWidth / scaleOfPage(), 280), columns = columnsOf(width, state.step, message.d_k);
  const scene = { message, tensors, width, columns, scale: message.scale, measure: measurer(root), query: state.query, key: state.key };

  root.style.setProperty("--root", Math.sqrt(message.d_k));
  const stage = element("div", `stage${columns.isNarrow ? " narrow" : ""}`);
  const top = element("div", "top", stage);
  const words = wordsOf(message, state.query, (query) => choose("query", query));
  element("span", "asks", top, message.predicts.length ? _("To write") : _("Query of"));
  top.append(words.row);
  const places = element("div", "player-place", columns.isNarrow ? stage : top);
  const sentence = element("p", { class: "sentence", role: "status" }, stage);
  sentence.style.minHeight = `${1.5 * (width < 640 ? 4 : width < 1100 ? 2 : 1)}rem`;
  const steps = element("div", "steps", stage);
  const head = picture("head", width, HEAD, stage), list = element("div", {
    class: "rows", tabindex: 0, role: "slider", "aria-label": _("Key: {title}", { title: message.key_title }), "aria-orientation": "vertical", "aria-valuemin": 1, "aria-valuemax": count,
  }, stage);
  const body = picture("body", width, 1, list), rows = keyRows(body, scene), foot = picture("foot", width, FOOT, stage);
  body.setAttribute("viewBox", `0 0 ${width} ${rows.height}`);
  body.style.height = `${rows.height / 16}rem`;
  const { inView } = rows, scrolls = count > inView;
  list.style.height = `${(inView * rows.pitch) / 16}rem`;
  const above = headOf(head, scene), below = footOf(foot, scene);
  const panel = panelOf(state, { places, steps, columns, divisor: `÷ √${message.d_k}` });
  const animations = animationsOf(stage);
  let sum = new Float64Array(message.d_k);

  const say = (text) => {
    const content = text ?? sentenceOf(scene, state.step);
    // Only the sentence of step 2 has a formula; a token that looks like one must not be typeset.
    if (text === undefined && state.step === 2) typeset(sentence, content);
    else sentence.textContent = content;
  };
  const trace = (key, isActive = false) => {
    scene.key = key;
    rows.mark(key, isActive);
    above.update();
    list.setAttribute("aria-valuenow", key + 1);
    list.setAttribute("aria-valuetext", rowInWords(scene, key));
  };
  const px = () => rows.pitch * scaleOfPage();
  const keepInView = () => {
    const y = state.key * px();
    if (y < list.scrollTop || y + px() > list.scrollTop + list.clientHeight) list.scrollTop = y - list.clientHeight / 2;
  };
  list.addEventListener("keydown", (event) => {
    const goal = { ArrowDown: state.key + 1, ArrowUp: state.key - 1, Home: 0, End: count - 1 }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    choose("key", within(goal, 0, count - 1));
    keepInView();
  });
  follow({ head, list, body, scene, state, rows, trace, say, choose });
  root.replaceChildren(stage);
  words.show();

  return {
    width: root.clientWidth,
    step: columns.isNarrow ? state.step : 0,  // the step for which the view was built; 0: for all
    changed: () => { stage.dataset.step = state.step; panel(); say(); },
    // Another query or key was chosen.
    chosen: () => {
      scene.query = state.query;
      rows.update();
      state.player.finish();
      say();
    },
    show: (step, reached) => {
      const isDone = reached === count;
      rows.reveal(step, reached);
      below.update(isDone ? step : step - 1, step === LAST_STEP);
      if (!reached) sum = new Float64Array(message.d_k);
      below.show(isDone ? undefined : sum);
      if (!isDone) return;
      animations.clear();
      trace(state.key);
      say();
      if (scrolls) keepInView();
    },
    visit: (step, j, ms) => {
      if (scrolls) list.scrollTop = (j - inView / 2) * px();
      const { group } = rows.rows[j], weight = tensors.row("weights", scene.query)[j];
      if (step === 1) {
        trace(j, true);
        animations.start(head.querySelector("image"), group.querySelector(".strip image"), ms, true);
      } else {
        weighted(tensors.row("value", j), weight).forEach((value, i) => { sum[i] += value; });
        if (weight >= 0.01) animations.start(group.querySelector(".of4 image"), foot.querySelector(".output image"), ms);
      }
    },
  };
}
