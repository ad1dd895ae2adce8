// What is round the pictures of the walk: buttons, heading, heads, text. Nothing of it changes its size while one walks.

function add(parent, name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

// A row of buttons of which one is chosen: by click, or by arrow keys.
function radios(row, names, chosen, choose) {
  row.setAttribute("role", "radiogroup");
  const texts = names.map(([text]) => text).join();
  if (row.dataset.texts !== texts) {
    row.dataset.texts = texts;
    row.replaceChildren();
    for (const [text, label] of names) {
      const button = add(row, "button", "", text);
      button.type = "button";
      button.setAttribute("role", "radio");
      if (label) button.setAttribute("aria-label", label);
    }
  }
  [...row.children].forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === chosen));
    button.tabIndex = i === chosen ? 0 : -1;
    button.onclick = () => choose(i);
    button.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], next = row.children[i + step];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      if (next) { next.focus(); choose(i + step); }
    };
  });
}

export function markup(root, walk) {
  const all = add(root, "div", "walk");
  const map = add(all, "div", "map-place"), station = add(all, "div", "station");
  const bar = add(station, "div", "bar");
  const button = (text, className, act) => {
    const node = add(bar, "button", className, text);
    node.type = "button";
    node.addEventListener("click", act);
    return node;
  };
  const previous = button("Previous", "previous", () => walk.go(walk.place - 1));
  const play = button("Play", "play", () => walk.play(!walk.playing));
  const next = button("Next", "next", () => walk.go(walk.place + 1));
  const where = add(bar, "span", "where"), detail = add(bar, "div", "choice");
  detail.setAttribute("aria-label", "Detail");
  const line = add(station, "div", "line"), title = add(line, "h2"), heads = add(line, "div", "heads");
  heads.setAttribute("aria-label", "Head");
  const picture = add(station, "div", "picture-place"), frame = add(picture, "div", "frame"), zone = add(picture, "div", "zone");
  const read = add(picture, "div", "read"), words = add(station, "p");
  frame.tabIndex = -1;
  words.setAttribute("aria-live", "polite");
  return { all, map, previous, play, next, where, detail, title, heads, picture, frame, zone, read, words };
}

const DETAILS = [["lecture", "First lecture"], ["exam", "Every step"]];

export function labelled(parts, { text, place, count, layer, state, headed }, walk) {
  const where = layer === null ? text.place : `${text.stack}, layer ${layer + 1}, ${text.place}`;
  parts.where.textContent = parts.where.title = `${place + 1} of ${count} · ${where}`;
  parts.title.textContent = text.title;
  parts.previous.disabled = place === 0;
  parts.next.disabled = place === count - 1;
  radios(parts.detail, DETAILS.map(([, name]) => [name]), DETAILS.findIndex(([name]) => name === state.detail), (i) => {
    state.detail = DETAILS[i][0];
    walk.tell();
    walk.show();
  });
  parts.heads.style.visibility = headed > 1 ? "visible" : "hidden";
  radios(parts.heads, Array.from({ length: headed }, (_, i) => [i + 1, `head ${i + 1}`]), walk.headHere(), (i) => walk.takeHead(i));
  parts.words.replaceChildren(...text.text.split("`").map((part, i) => Object.assign(document.createElement(i % 2 ? "code" : "span"), { textContent: part })));
}
