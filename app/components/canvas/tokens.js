// The tokens as buttons; below each written token its probability and the runners-up. For an isolated token, each
// weight is written at the other end of its arc, as a button that opens its calculation.

import { forTouch } from "../shared/hints.js";
import { _ } from "../shared/language.js";
import { ofHead } from "./message.js";
import { inWords, isControl, quoted } from "../shared/token.js";
import { weightText } from "./numbers.js";
import { element, focusedIn } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";

const MIN_LABELLED = 3;  // 255ths: a smaller weight is not written beside its token
const MIN_UNDIMMED = 8;  // 255ths: a token with a smaller weight is pale
const RUNNERS_UP = 2;

const placeAt = (node, { x, y, w, h }) => {
  node.style.cssText += `left:${x.toFixed(1)}px;top:${y.toFixed(1)}px;width:${w.toFixed(1)}px;${h ? `height:${h.toFixed(1)}px` : ""}`;
  return node;
};

const unwrittenClass = (view, writes, index) => (writes && index >= view.written ? " unwritten" : "");

export function newTokens(view) {
  const { layout, stage, both } = view;
  const had = focusedIn(stage.tokens)?.closest(".token"), focused = had ? [had.dataset.side, +had.dataset.index] : null;
  stage.tokens.replaceChildren();
  view.tokens = { key: [], query: [] };
  view.labels = { key: [], query: [] };
  const languages = { encoder: view.message.source.code, decoder: view.message.target.code };
  for (const [side, { tokens, role, label }, boxes] of [["key", both.keys, layout.keys], ["query", both.queries, layout.queries]]) {
    const group = element("div", { class: `side ${role}`, role: "group", "aria-label": label }, stage.tokens);
    tokens.slice(0, boxes.length).forEach((token, index) => {
      const writes = side === "query" && both.writes;
      const button = placeAt(element("button", `token${writes ? " writes" : ""}${unwrittenClass(view, writes, index)}`, group), boxes[index]);
      button.style.fontSize = `${layout.size}rem`;
      const text = element("span", isControl(token) ? "text special" : "text", button, inWords(token));
      text.dir = "auto";
      if (languages[role]) text.lang = languages[role];
      button.title = token;
      Object.assign(button.dataset, { side, index });
      button.setAttribute("aria-pressed", "false");
      button.tabIndex = -1;
      view.tokens[side].push(button);
      const number = placeAt(element("button", `weight ${side}`, group), numberBox(layout, side, boxes[index], view.rem));
      number.hidden = true;
      number.addEventListener("click", () => view.openAt(side, index));
      view.labels[side].push(number);
      if (writes) probabilities(view, group, boxes[index], index);
    });
  }
  const first = view.tokens[focused?.[0] ?? "query"][focused?.[1] ?? 0] ?? view.tokens.query[0];
  first.tabIndex = 0;
  if (focused) first.focus({ preventScroll: true });
}

function numberBox(layout, side, box, rem) {
  if (layout.severalRows) return { x: box.x + box.w / 2 - 1.6 * rem, y: box.y + box.h + 0.1 * rem, w: 3.2 * rem };
  if (layout.flat) return { x: box.x + box.w / 2 - 1.6 * rem, y: side === "key" ? box.y + box.h + 0.15 * rem : box.y - 1.5 * rem, w: 3.2 * rem };
  return { x: side === "key" ? box.x + box.w + 2 : box.x - 3.2 * rem, y: box.y, w: 3.1 * rem, h: box.h };
}

function probabilities(view, group, box, index) {
  const { target } = view.message, { layout, rem } = view, probability = target.probabilities[index];
  const place = layout.flat ? { x: box.x, y: box.y + box.h + 0.3 * rem, w: box.w } : { x: box.x + box.w + 0.25 * rem, y: box.y, w: 2.6 * rem, h: box.h };
  // At an end of the row, a wide text must stay inside the frame.
  const end = index === 0 ? " first" : index === target.tokens.length - 1 ? " last" : "";
  const part = placeAt(element("div", `probability${layout.severalRows ? " in-rows" : ""}${layout.flat ? end : " beside"}${unwrittenClass(view, true, index)}`, group), place);
  part.dataset.index = index;
  const bar = element("div", "bar", part);
  element("div", "filled", bar).style.width = `${100 * (probability ?? 0)}%`;
  element("div", "number", part, probability === null ? "" : percent(probability));
  view.probabilities[index] = part;
  if (!layout.flat || layout.severalRows) return;
  drawRunnersUp(view, part, index).forEach((button) => { if (view.state.acts) button.tabIndex = -1; });
}

const runnerText = ({ text }) => (text === "▁" ? _("a space") : inWords(text));

// The runners-up of each query: their texts, which may be cut, and their probabilities, which never are.
export const runnerTexts = (view) => (view.both.writes ? view.message.target.runners.map((found) => {
  const shown = found.slice(0, RUNNERS_UP);
  return { texts: shown.map(runnerText), numbers: shown.map((runner) => percent(runner.probability)) };
}) : []);

// What could have been written instead of a token, as buttons.
function drawRunnersUp(view, parent, index) {
  const { tokens, runners: found } = view.message.target;
  return found[index].slice(0, RUNNERS_UP).map((runner) => {
    const text = runnerText(runner), button = element(view.state.acts ? "button" : "div", "runner", parent);
    const probability = percent(runner.probability), token = inWords(tokens[index]);
    element("span", "other", button, text);
    element("span", "number", button, probability);
    button.setAttribute("aria-label", _("Instead of {token}: {other}, {probability}", { token, other: text, probability }));
    if (view.state.acts) {
      button.title = forTouch(_("{token}: {probability}. Click it: decoding continues from here with it.", { token: text, probability }));
      button.addEventListener("click", () => view.act("continue", index, runner.id));
    }
    return button;
  });
}

// The place of the written token with the lowest probability (the first of equals), or null if no probability is known.
function leastCertain({ target }) {
  const known = target.probabilities.filter((probability) => probability !== null);
  return known.length ? target.probabilities.indexOf(Math.min(...known)) : null;
}

// In columns there is no room below the tokens, so the runners-up are in a line of their own: those of the token that
// is isolated, or else of the least certain token.
function showInstead(view, focus) {
  const least = view.isWriting ? null : leastCertain(view.message), query = focus.query ?? least;
  const place = view.instead, shows = `${view.message.id} ${focus.query} ${query} ${view.state.acts}`;
  if (place.hidden || place.dataset.shows === shows) return;
  place.dataset.shows = shows;
  place.replaceChildren();
  const token = query === null ? "" : quoted(view.message.target.tokens[query]);
  const heading = query === null
    ? forTouch(_("Click a written word: what else was probable?"))
    : focus.query === null ? _("Least certain: {token}. Instead:", { token }) : _("Instead of {token}:", { token });
  element("span", "", place, heading);
  if (query !== null) drawRunnersUp(view, place, query);
}

export function showTokens(view, here, focus) {
  const kind = view.message.kind[here.kind], weights = ofHead(kind, here.layer, here.head);
  const isolated = focus.query !== null || focus.key !== null;
  showInstead(view, focus);
  for (const side of ["key", "query"]) {
    const other = side === "key" ? "query" : "key", numbered = [];
    view.tokens[side].forEach((button, i) => {
      const unwritten = side === "query" && view.both.writes && i >= view.written;
      const own = focus[side] === i;
      let byte = 0, mine = own;
      if (!own && focus[side] === null && focus[other] !== null) {
        byte = side === "key" ? weights[focus.query * kind.keys + i] : weights[i * kind.keys + focus.key];
        mine = byte >= MIN_UNDIMMED;
      }
      button.classList.toggle("dim", isolated && !mine);
      button.classList.toggle("on", own);
      button.classList.toggle("pinned", view.pins[side] === i);
      button.classList.toggle("unwritten", unwritten);
      button.classList.toggle("newest", view.isWriting && side === "query" && i === view.written - 1);
      button.setAttribute("aria-pressed", String(view.pins[side] === i));
      if (byte >= MIN_LABELLED && !unwritten) numbered.push([byte, i]);
      if (side !== "query" || !view.both.writes) return;
      const part = view.probabilities[i];
      part.classList.toggle("unwritten", unwritten);
      part.classList.toggle("dim", isolated && !mine);
      part.classList.toggle("open", own);
      part.querySelectorAll("button").forEach((runner) => { runner.tabIndex = own ? 0 : -1; });
    });
    showNumbers(view, here, focus, side, numbered);
  }
}

// The largest weights first; a smaller one is left out where it would overlap a larger one.
function showNumbers(view, here, focus, side, numbered) {
  const boxes = view.layout[side === "key" ? "keys" : "queries"], taken = [];
  const texts = new Map();
  for (const [, i] of numbered.sort((a, b) => b[0] - a[0])) {
    const middle = boxes[i].x + boxes[i].w / 2, { y } = boxes[i];
    if (view.layout.flat && taken.some((one) => one.y === y && Math.abs(one.middle - middle) < 3.1 * view.rem)) continue;
    taken.push({ middle, y });
    const [q, k] = side === "key" ? [focus.query, i] : [i, focus.key];
    texts.set(i, weightText(view, here, q, k));
  }
  view.labels[side].forEach((label, i) => {
    const text = texts.get(i) ?? "";
    label.hidden = !text;
    // If the layout has several rows, a written token shows the weight in place of its probability.
    if (view.layout.severalRows && side === "query" && view.both.writes) view.probabilities[i].style.visibility = text ? "hidden" : "";
    if (label.textContent !== text) label.textContent = text;
    label.tabIndex = view.pins[side === "key" ? "query" : "key"] !== null ? 0 : -1;
    if (text) label.setAttribute("aria-label", _("{weight}: how this weight is computed", { weight: text }));
  });
}
