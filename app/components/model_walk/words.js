// Stations whose picture is words: characters, tokens, what the decoder reads, what may come next, what was chosen.

import { button, element } from "../shared/dom.js";
import { byTouch } from "../shared/hints.js";
import { _ } from "../shared/language.js";
import { make, write } from "../shared/svg.js";
import { inWords, putWithMarks } from "../shared/token.js";
import { written } from "./dims.js";

function chips(view, color, label) {
  // A list of characters, which cannot be clicked, can have the focus itself, so that keys can scroll it.
  const list = element("div", { class: "chips", role: "group", "aria-label": label, tabindex: view.text.shown_as === "characters" ? 0 : -1 });
  list.style.setProperty("--role", color);
  view.frame.replaceChildren(list);
  view.zone.style.height = "0px";
  view.zone.replaceChildren();
  view.read.textContent = "";
  return list;
}

function chip(list, text, under, { on, act } = {}) {
  const node = act ? button({ class: "chip", "aria-pressed": Boolean(on) }, list, undefined, act) : element("span", "chip", list);
  putWithMarks(node, text);
  for (const line of under) element("small", "", node, line);
  return node;
}

export function drawCharacters(view) {
  const list = chips(view, view.data.encoder, _("Characters"));
  for (const letter of view.picture.text) chip(list, letter === " " ? "␣" : letter, [`U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`]);
  view.read.textContent = _("{count} characters; below each its code point.", { count: [...view.picture.text].length });
}

export function drawTokens(view) {
  const list = chips(view, view.data.encoder, view.picture.label);
  view.picture.chips.forEach((each, i) => {
    chip(list, each.text, each.under, { on: i === view.followed, act: () => view.follow(i, true) }).title = each.title;
  });
  const below = _("Below each token: its id, and the positions of its characters. ▁ marks the start of a word.");
  const hint = byTouch() ? _("Tap a token to follow it.") : _("Click a token to follow it.");
  view.read.textContent = `${below} ${hint}`;
}

export function drawShifted(view) {
  const list = chips(view, view.data.decoder, _("What each row of the decoder reads and predicts"));
  view.data.target.forEach((token, i) => chip(list, inWords(token), [`→ ${inWords(view.data.predicts[i])}`], { on: i === view.followed, act: () => view.follow(i, true) }));
  const rows = _("Each row: the token that it reads → the token that it predicts.");
  const hint = byTouch() ? _("Tap a row to follow it.") : _("Click a row to follow it.");
  view.read.textContent = `${rows} ${hint}`;
}

export function drawChosen(view) {
  const list = chips(view, view.data.decoder, _("Tokens of the translation"));
  view.data.predicts.forEach((token, i) => chip(list, inWords(token), [view.picture.share_texts[i]], { on: i === view.followed, act: () => view.follow(i, true) }));
  view.read.textContent = _("Below each token: its probability, given the tokens before it.");
}

export function drawCandidates(view) {
  const { frame, unit, data, followed, text } = view, offers = view.picture.offers[followed];
  view.zone.style.height = "0px";
  view.zone.replaceChildren();
  const high = Math.min((frame.parentElement.clientHeight - view.read.clientHeight - 4) / offers.length, 30 * unit);
  const width = frame.clientWidth - 4, left = 150 * unit, across = width - left - 150 * unit;
  const marks = { chosen: _("chosen"), given: _("given") };
  const value = (offer) => (text.name === "logits" ? offer.logit : offer.probability);
  const lowest = Math.min(0, ...offers.map(value)), most = Math.max(...offers.map(value), text.name === "logits" ? 1 : 0.01) - lowest;
  const svg = make("svg", { class: "walk-picture", width, height: offers.length * high, role: "img",
    "aria-label": _("The most probable next tokens: {tokens}", { tokens: offers.map((offer) => `${offer.token} ${text.name === "logits" ? written(offer.logit, 2) : offer.probability_text}`).join(", ") }) });
  offers.forEach((offer, i) => {
    const y = (i + 0.5) * high, from = left + (across * (Math.min(value(offer), 0) - lowest)) / most, wide = (across * Math.abs(value(offer))) / most;
    write(make("text", { x: left - 8 * unit, y, "text-anchor": "end", "dominant-baseline": "central", style: offer.mark ? "font-weight: 700" : "" }, svg), offer.token);
    make("rect", { x: from, y: y - 0.36 * high, width: Math.max(wide, 1), height: 0.72 * high, rx: 3, fill: offer.mark ? data.decoder : "rgba(128, 136, 150, 0.6)" }, svg);
    make("text", { class: "value", x: Math.max(from + wide, left) + 8 * unit, y, "dominant-baseline": "central" }, svg,
      `${text.name === "logits" ? written(offer.logit, 2) : offer.probability_text}${offer.mark ? ` · ${marks[offer.mark]}` : ""}`);
  });
  frame.replaceChildren(svg);
  view.read.textContent = _("Row {row} of {count}: it reads “{token}”.", { row: followed + 1, count: data.target.length, token: inWords(data.target[followed]) });
}
