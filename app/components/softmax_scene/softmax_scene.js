// The same scores, not divided and divided by sqrt(d_k), and what the softmax makes of both. With random vectors, a
// slider chooses d_k. With the reader's words, d_k is that of the model, and the reader chooses a word. The browser
// computes all of it.

import { divided, gradientOf, softmax, spreadOf } from "./arithmetic.js";
import { ABOVE, barsOf, heightsOf } from "./bars.js";
import { factsOf, sentenceOf } from "./facts.js";
import { decoded } from "../shared/arrays.js";
import { button, element } from "../shared/dom.js";
import { typeset } from "../shared/formula.js";
import { _ } from "../shared/language.js";
import { decimal, grouped } from "../shared/numbers.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { radios } from "../shared/radios.js";
import { make, measurer } from "../shared/svg.js";
import { wordsOf } from "../shared/words.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";

// The scores before the division, the names of their keys, and d_k.
function shown({ message, isRandom, width, query }) {
  if (isRandom) return { d_k: message.widths[width], names: message.random_names, products: Array.from(decoded(message.products).values).slice(width * message.random_names.length, (width + 1) * message.random_names.length) };
  const { keys, products, mask } = message.head, row = (packed) => Array.from(decoded(packed).values).slice(query * keys.length, (query + 1) * keys.length);
  const allowed = row(mask);
  return { d_k: message.own, names: keys, products: row(products).map((product, i) => (allowed[i] ? product : null)) };
}

function draw(root, state, send) {
  const { message } = state, { head } = message, px = Math.max(root.clientWidth / scaleOfPage(), 300), measure = measurer(root);
  const panelWidth = (px - (px < 640 ? 9.6 : 28)) / 2;
  const isNarrow = px < 640, heights = heightsOf(isNarrow, !state.isRandom);
  Object.assign(state, { drawnAt: root.clientWidth, isNarrow });
  root.style.setProperty("--query", message.colors.query);
  root.style.setProperty("--stream", state.isRandom ? "var(--st-text-color)" : message.colors.stream);

  const stage = element("div", `stage${isNarrow ? " narrow" : ""}`), top = element("div", "top", stage);
  radios(element("div", "modes segments", top), _("Scores of"), [_("Random vectors"), _("Your words")], state.isRandom ? 0 : 1, (i) => {
    state.isRandom = i === 0;
    draw(root, state, send);
    send("mode", i);
    root.querySelector(".modes [aria-checked=true]").focus({ preventScroll: true });
  });
  const place = element("div", "chooser", top);
  const sentence = element("p", { class: "sentence", role: "status" }, stage), panels = element("div", "panels picture", stage);
  const { names } = shown(state);
  const made = [_("Not divided"), _("Divided by √d_k")].map((title, i) => {
    const panel = element("section", "panel", panels);
    const heading = typeset(element("h3", "", panel), title);
    const svg = make("svg", { role: "img", viewBox: `0 ${-ABOVE} ${panelWidth} ${heights.all}`, style: `height:${heights.all / 16}rem` }, panel);
    const facts = [element("p", "fact", panel), element("p", "fact", panel)];
    return { heading, svg, facts, show: barsOf(svg, panelWidth, names, heights, measure), isDivided: i === 1 };
  });

  const update = () => {
    const { d_k, products } = shown(state), sets = [products, divided(products, d_k)], weights = sets.map(softmax);
    const allowed = products.filter((product) => product !== null);
    const limit = products.reduce((most, product) => Math.max(most, Math.abs(product ?? 0)), 0) || 1;
    made.forEach(({ heading, svg, facts, show, isDivided }, i) => {
      const texts = factsOf({ keys: allowed.length, spread: spreadOf(weights[i]), gradient: gradientOf(weights[i]) });
      typeset(heading, headingOf(isDivided, isNarrow, d_k));
      show(sets[i], weights[i], limit);
      texts.forEach((text, n) => { facts[n].textContent = text; });
      const strongest = _("Largest weight {weight}.", { weight: decimal(Math.max(...weights[i]), 3) });
      svg.setAttribute("aria-label", `${headingOf(isDivided, isNarrow, d_k)}. ${strongest} ${texts.join(" ")}`);
    });
    const word = head.predicts[state.query] ?? head.queries[state.query];
    sentence.textContent = sentenceOf({ d_k, isRandom: state.isRandom, head: head.name, word, largest: Math.max(...allowed), weights });
  };
  if (state.isRandom) place.append(...sliderOf(state, update, send));
  else {
    element("span", "asks", place, head.predicts.length ? _("To write") : _("Query of"));
    const words = wordsOf(head, state.query, (query) => { state.query = query; update(); send("query", query); });
    place.append(words.row);
    state.showWord = words.show;
  }
  root.replaceChildren(stage);
  if (!state.isRandom) state.showWord();
  update();
}

function headingOf(isDivided, isNarrow, d_k) {
  if (isNarrow) return isDivided ? _("Divided by √{d_k}", { d_k }) : _("Not divided");
  return isDivided ? _("Divided: {formula}", { formula: `softmax(q·k / √${d_k})` }) : _("Not divided: {formula}", { formula: "softmax(q·k)" });
}

function sliderOf(state, update, send) {
  const { widths, own } = state.message;
  const label = element("label", "width"), output = element("output", "");
  const slider = element("input", { class: "slider", type: "range", min: 0, max: widths.length - 1, "aria-label": _("d_k, the width of a head") }, label);
  slider.value = state.width;
  const showWidth = () => {
    output.textContent = `d_k = ${grouped(widths[state.width])}`;
    slider.setAttribute("aria-valuetext", output.textContent);
  };
  slider.addEventListener("input", () => { state.width = Number(slider.value); showWidth(); update(); });
  slider.addEventListener("change", () => send("width", state.width));
  const back = button("own", null, state.isNarrow ? _("Model: {d_k}", { d_k: own }) : _("This checkpoint: {d_k}", { d_k: own }), () => {
    slider.value = state.width = widths.indexOf(own);
    showWidth();
    update();
    send("width", state.width);
  });
  showWidth();
  label.prepend(output);
  return [label, back];
}

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root"), text = new TextDecoder().decode(bytes), message = JSON.parse(text);
  const state = (root.scene ??= {});
  const chosen = (name, place, count) => currentChoice(root, name, { chosen: place, count, received: message.received });
  const [width, query] = [chosen("width", message.width, message.widths.length), chosen("query", message.head.query, message.head.queries.length)];
  const isRandom = chosen("mode", message.mode, 2) === 0;
  const known = JSON.stringify({ ...message, received: 0, width: 0, mode: 0, head: { ...message.head, query: 0 } });
  const isDrawn = state.known === known && state.width === width && state.query === query && state.isRandom === isRandom;
  Object.assign(state, { message, known, width, query, isRandom });
  const send = (name, index) => setTriggerValue("chosen", numbered(root, name, index));
  root.draw = () => draw(root, state, send);
  if (!isDrawn) root.draw();
  if (!root.watcher) {
    root.watcher = watchSize(root, () => { if (Math.abs(root.clientWidth - state.drawnAt) > 1) root.draw(); });
  }
}
