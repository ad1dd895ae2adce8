// What surrounds the pictures of the walk: buttons, heading, heads, text. None of it changes its size during the walk.

import { element } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { playerButtons } from "../shared/player_buttons.js";
import { radios } from "../shared/radios.js";
import { STACKS } from "./stacks.js";

// Buttons whose texts have not changed stay, because a button that is replaced under the pointer gets no click.
function keepRadios(row, names, chosen, choose) {
  const texts = names.map(([text]) => text).join();
  if (row.texts === texts) { row.choice.mark(chosen); return; }
  row.texts = texts;
  const fills = names.map(([text, label]) => (node) => { node.textContent = text; node.ariaLabel = label; });
  row.choice = radios(row, row.ariaLabel, fills, chosen, choose);
}

export function markup(root, walk) {
  const all = element("div", "walk", root);
  const map = element("div", "map-place sideways", all), station = element("div", "station", all), bar = element("div", "bar", station);
  const player = playerButtons(bar, {
    back: () => walk.go(walk.place - 1),
    play: () => walk.play(!walk.playing),
    next: () => walk.go(walk.place + 1),
  });
  const where = element("span", "where", bar), detail = element("div", { class: "choice segments", "aria-label": _("Detail") }, bar);
  const line = element("div", "line", station), title = element("h2", "", line), heads = element("div", { class: "heads sideways", "aria-label": _("Head"), "data-name": _("head") }, line);
  const picture = element("div", "picture-place", station), frame = element("div", { class: "frame downwards", tabindex: -1 }, picture);
  const zone = element("div", "zone", picture), read = element("div", "read", picture), words = element("p", { "aria-live": "polite" }, station);
  return { all, map, player, where, detail, title, heads, picture, frame, zone, read, words };
}

const DETAILS = [["lecture", _("First lecture")], ["exam", _("Every step")]];

export function labelled(parts, { text, place, count, layer, state, headed }, walk) {
  const where = layer === null ? text.place : _("{stack}, layer {layer}, {part}", { stack: STACKS[text.stack], layer: layer + 1, part: text.place });
  parts.where.textContent = parts.where.title = _("{number} of {count} · {place}", { number: place + 1, count, place: where });
  parts.title.textContent = text.title;
  parts.player.showPlace(place === 0, place === count - 1);
  keepRadios(parts.detail, DETAILS.map(([, name]) => [name, name]), DETAILS.findIndex(([name]) => name === state.detail), (i) => walk.takeDetail(DETAILS[i][0]));
  parts.heads.style.visibility = headed > 1 ? "visible" : "hidden";
  keepRadios(parts.heads, Array.from({ length: headed }, (unused, i) => [i + 1, _("head {head}", { head: i + 1 })]), walk.headHere(), (i) => walk.takeHead(i));
  parts.words.replaceChildren(...text.text.split("`").map((part, i) => element(i % 2 ? "code" : "span", "", null, part)));
}
