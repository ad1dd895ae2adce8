// A sentence and, below it, its words shuffled: lines join the same token. Below each token of the shuffled sentence,
// bars show how far the encoder's output for it moved. Pointing at a token or moving to it with the arrow keys,
// Home or End highlights it. A long sentence scrolls sideways.

import { itemByKey } from "../shared/arrow_keys.js";
import { button, element, focusedIn } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { percent, percentWith } from "../shared/numbers.js";
import { lines, make, measurer, write } from "../shared/svg.js";
import { inWords } from "../shared/token.js";
import { scaleOfPage, watchWidth } from "../shared/watch_size.js";

const PAD = 8, GAP = 6, NARROW = 400, TOKEN_HEIGHT = 34, FIRST = 4, SECOND = 118, BARS = 172, BAR = 96, TITLE = 24, TITLE_SIZE = 15, NUMBER = 18, NARROWEST = 40;

// How far an output moved, divided by its length: it can be more than 100%.
const shareText = (share) => (share < 0.0005 ? "0" : share > 1 ? percentWith(share, 0) : percent(share));

// The x coordinate of each token in an order; the index is the number of the token in the sentence.
function places(order, widths, gap) {
  const found = [];
  let x = 2;
  for (const token of order) {
    found[token] = x;
    x += widths[token] + gap;
  }
  return found;
}

function drawn(root, frame, data, before, chosen, point) {
  const measure = measurer(root), unit = scaleOfPage();
  const room = root.clientWidth / unit, plain = data.tokens.map((unused, token) => token);
  // On a phone, a sentence of usual length fits.
  const [pad, gap, narrowest] = room < NARROW ? [3, 2, 30] : [PAD, GAP, NARROWEST];
  const sized = (size) => data.tokens.map((token) => Math.max(measure(token, size) + 2 * pad, narrowest));
  const total = (widths) => widths.reduce((sum, width) => sum + width + gap, 4);
  const size = [20, 18, 16].find((each) => total(sized(each)) <= room) ?? 15, widths = sized(size);
  const titles = data.bars.map(({ title }) => lines(title, room - 6, TITLE_SIZE, measure));
  const most = Math.max(...data.bars.flatMap(({ shares }) => shares), 0.01), tall = (share) => ((BAR - NUMBER) * share) / most;
  let ground = BARS;
  // Each row of bars is as high as its highest bar.
  const grounds = data.bars.map(({ shares }, row) => (ground += (row ? 18 : 0) + TITLE * titles[row].length + NUMBER + tall(Math.max(...shares))));
  const width = Math.max(total(widths), ...titles.flat().map((line) => measure(line, TITLE_SIZE) + 6)), height = ground + 4;
  const svg = make("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "group", "aria-label": data.alt });
  Object.assign(svg.style, { width: `${width * unit}px`, height: `${height * unit}px` });
  const from = places(plain, widths, gap), to = places(data.order, widths, gap), start = before ? places(before, widths, gap) : to;
  const marks = plain.map(() => []);
  const middle = (x, token) => x[token] + widths[token] / 2;
  for (const token of plain) {
    const [a, b] = [middle(from, token), middle(to, token)], top = FIRST + TOKEN_HEIGHT, bend = (top + SECOND) / 2;
    marks[token].push(make("path", { class: "line", d: `M${a},${top}C${a},${bend} ${b},${bend} ${b},${SECOND}` }, svg));
  }
  for (const [x, y] of [[from, FIRST], [start, SECOND]]) {
    for (const token of plain) {
      const group = make("g", { class: "token", "data-token": token }, svg);
      group.style.transform = `translate(${x[token]}px, ${y}px)`;
      make("rect", { width: widths[token], height: TOKEN_HEIGHT, rx: 7 }, group);
      write(make("text", { x: widths[token] / 2, y: TOKEN_HEIGHT / 2, "text-anchor": "middle", "dominant-baseline": "central", style: `font-size: ${size}px` }, group), data.tokens[token]);
      marks[token].push(group);
      if (y === SECOND && before) requestAnimationFrame(() => requestAnimationFrame(() => { group.style.transform = `translate(${to[token]}px, ${y}px)`; }));
    }
  }
  data.bars.forEach(({ shares }, row) => {
    const y = grounds[row];
    titles[row].forEach((line, i) => make("text", { class: "title", x: 2, y: y - tall(Math.max(...shares)) - NUMBER - 8 - TITLE * (titles[row].length - 1 - i) }, svg, line));
    make("line", { class: "ground", x1: 0, x2: total(widths), y1: y, y2: y }, svg);
    for (const token of plain) {
      const high = tall(shares[token]), wide = Math.min(widths[token], 44);
      make("rect", { class: "bar", x: middle(to, token) - wide / 2, y: y - high, width: wide, height: high, rx: 2 }, svg);
      marks[token].push(make("text", { class: "number", x: middle(to, token), y: y - high - 5, "text-anchor": "middle" }, svg, shareText(shares[token])));
    }
  });
  svg.addEventListener("pointerover", (event) => {
    const token = event.target.closest("[data-token]")?.dataset.token;
    if (token !== undefined) point(Number(token));
  });
  svg.addEventListener("keydown", (event) => {
    const place = itemByKey(event, data.order.indexOf(chosen()), data.order.length);
    if (place === undefined) return;
    const token = data.order[place], left = to[token] * unit, right = left + widths[token] * unit;
    frame.scrollLeft = Math.max(Math.min(frame.scrollLeft, left), right - frame.clientWidth);
    point(token);
  });
  frame.replaceChildren(svg);
  return { mark: (chosen) => marks.forEach((nodes, token) => nodes.forEach((node) => node.classList.toggle("near", token === chosen))), size: svg };
}

function description({ tokens, order, bars }, token) {
  const place = order.indexOf(token) + 1;
  const values = { token: inWords(tokens[token]), from: token + 1, to: place };
  const moved = place === token + 1 ? _("“{token}” stays at position {to}", values) : _("“{token}” goes from position {from} to {to}", values);
  const [first, second] = bars.map(({ shares }) => shareText(shares[token]));
  return second === undefined
    ? _("{moved}; the encoder's output for it moves by {share} of its length.", { moved, share: first })
    : _("{moved}; the encoder's output for it moves by {with} of its length with positions, by {without} without them.", { moved, with: first, without: second });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const sentence = JSON.stringify(data.tokens), state = (root.headlight ??= {});
  const before = state.sentence === sentence && String(state.order) !== String(data.order) ? state.order : null;
  if (state.sentence !== sentence) state.token = data.order[0];
  Object.assign(state, { sentence, order: data.order, data });
  root.style.setProperty("--role", data.color);
  root.style.setProperty("--faint", data.faint);
  if (!root.querySelector(".tools")) {
    root.replaceChildren();
    const tools = element("div", "tools", root);
    state.button = button("", tools, _("Shuffle again"), () => state.shuffle());
    element("span", { class: "status", "aria-live": "polite" }, tools);
    element("div", "frame sideways", root);
  }
  state.button.disabled = !data.again;
  state.button.title = data.again ? "" : _("These words have no other order");
  state.shuffle = () => setTriggerValue("shuffled", true);
  const frame = root.querySelector(".frame"), status = root.querySelector(".status");
  let picture;
  const point = (token) => {
    state.token = token in data.tokens ? token : data.order[0];  // it may be one of a longer sentence
    picture.mark(state.token);
    status.textContent = description(data, state.token);
  };
  const draw = (from) => {
    const hadFocus = focusedIn(frame);
    picture = drawn(root, frame, data, from, () => state.token, point);
    point(state.token);
    if (hadFocus) picture.size.focus({ preventScroll: true });
  };
  draw(before);
  return watchWidth(root, () => draw(null));
}
