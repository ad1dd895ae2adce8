// What surrounds the pictures of the walk: buttons, heading, heads, text. None of it changes its size during the walk.

import { itemByKey } from "../shared/arrow_keys.js";
import { element } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { playerButtons } from "../shared/player_buttons.js";
import { STACKS } from "./stacks.js";

// A row of buttons of which one is chosen: by click, or by arrow keys. Buttons whose texts have not changed stay, because
// a button that is replaced under the pointer gets no click.
function keepRadios(row, names, chosen, choose) {
  row.setAttribute("role", "radiogroup");
  const texts = names.map(([text]) => text).join();
  if (row.dataset.texts !== texts) {
    row.dataset.texts = texts;
    row.replaceChildren();
    for (const [text, label] of names) {
      element("button", { role: "radio", "aria-label": label }, row, text);
    }
  }
  [...row.children].forEach((node, i) => {
    node.setAttribute("aria-checked", String(i === chosen));
    node.tabIndex = i === chosen ? 0 : -1;
    node.onclick = () => choose(i);
    node.onkeydown = (event) => {
      const goal = itemByKey(event, i, names.length);
      if (goal === undefined || goal === i) return;
      row.children[goal].focus();
      choose(goal);
    };
  });
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
