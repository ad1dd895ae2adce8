// Stations whose picture is words: characters, tokens, what the decoder reads, what may come next, what was chosen.

import { button, element } from "../shared/dom.js";
import { make, write } from "../shared/svg.js";
import { inWords, put } from "../shared/token.js";
import { written } from "./dims.js";

function chips(view, color, label) {
  // The whole list has the focus where no word of it has, so that keys can scroll a long sentence.
  const list = element("div", { class: "chips picture", role: "group", "aria-label": label, tabindex: view.text.look === "characters" ? 0 : -1 });
  list.style.setProperty("--role", color);
  view.frame.replaceChildren(list);
  view.zone.style.height = "0px";
  view.zone.replaceChildren();
  view.read.textContent = "";
  return list;
}

function chip(list, text, under, { on, act } = {}) {
  const node = act ? button({ class: "chip", "aria-pressed": Boolean(on) }, list, undefined, act) : element("span", "chip", list);
  put(node, text);
  for (const line of under) element("small", "", node, line);
  return node;
}

export function drawCharacters(view) {
  const list = chips(view, view.data.encoder, "Characters");
  for (const letter of view.picture.text) chip(list, letter === " " ? "␣" : letter, [`U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`]);
  view.read.textContent = `${[...view.picture.text].length} characters; below each its code point.`;
}

export function drawPieces(view) {
  const list = chips(view, view.data.encoder, view.picture.label);
  view.picture.chips.forEach((each, i) => {
    chip(list, each.text, each.under, { on: i === view.followed, act: () => view.follow(i, true) }).title = each.title;
  });
  view.read.textContent = "Below each token: its id, and the positions of its characters. ▁ marks the start of a word. Click a token to follow it.";
}

export function drawShifted(view) {
  const list = chips(view, view.data.decoder, "What each row of the decoder reads and predicts");
  view.data.target.forEach((token, i) => chip(list, token, [`→ ${view.data.predicts[i]}`], { on: i === view.followed, act: () => view.follow(i, true) }));
  view.read.textContent = "Each row: the token that it reads → the token that it predicts. Click a row to follow it.";
}

export function drawChosen(view) {
  const list = chips(view, view.data.decoder, "Tokens of the translation");
  view.data.predicts.forEach((token, i) => chip(list, token, [view.picture.said[i]], { on: i === view.followed, act: () => view.follow(i, true) }));
  view.read.textContent = "Below each token: its probability when it was chosen.";
}

export function drawOffers(view) {
  const { frame, unit, data, followed, text } = view, offers = view.picture.offers[followed];
  view.zone.style.height = "0px";
  view.zone.replaceChildren();
  const high = Math.min((frame.parentElement.clientHeight - view.read.clientHeight - 4) / offers.length, 30 * unit);
  const width = frame.clientWidth - 4, left = 150 * unit, across = width - left - 150 * unit;
  const value = (offer) => (text.name === "logits" ? offer.logit : offer.probability);
  const lowest = Math.min(0, ...offers.map(value)), most = Math.max(...offers.map(value), text.name === "logits" ? 1 : 0.01) - lowest;
  const svg = make("svg", { class: "walk-picture picture", width, height: offers.length * high, role: "img",
    "aria-label": `The most probable next tokens: ${offers.map((offer) => `${offer.token} ${text.name === "logits" ? written(offer.logit, 2) : offer.said}`).join(", ")}` });
  offers.forEach((offer, i) => {
    const y = (i + 0.5) * high, from = left + (across * (Math.min(value(offer), 0) - lowest)) / most, wide = (across * Math.abs(value(offer))) / most;
    write(make("text", { x: left - 8 * unit, y, "text-anchor": "end", "dominant-baseline": "central", style: offer.mark ? "font-weight: 700" : "" }, svg), offer.token);
    make("rect", { x: from, y: y - 0.36 * high, width: Math.max(wide, 1), height: 0.72 * high, rx: 3, fill: offer.mark ? data.decoder : "rgba(128, 136, 150, 0.6)" }, svg);
    make("text", { class: "value", x: Math.max(from + wide, left) + 8 * unit, y, "dominant-baseline": "central" }, svg,
      `${text.name === "logits" ? written(offer.logit, 2) : offer.said}${offer.mark ? ` · ${offer.mark}` : ""}`);
  });
  frame.replaceChildren(svg);
  view.read.textContent = `Row ${followed + 1} of ${data.target.length}: it reads “${inWords(data.target[followed])}”.`;
}
