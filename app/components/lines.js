// Attention as lines between two rows of tokens: keys (looked at) above or left, queries (looking) below or right. Lies
// down where both rows fit side by side, stands up where they do not. Hover, focus or click isolates a token; a click or
// Enter pins it, Escape lets go; arrow keys walk. What is isolated is also spoken.
// With `heads`, all heads of a layer are here, each in its colour: buttons, or their digits, turn them on and off.
// The weights arrive as base64 of float32: what is drawn is the tensor.

const SVG = "http://www.w3.org/2000/svg";
const FAINTEST = 0.01;  // a lighter line cannot be seen; isolating a token draws its lines down to SPOKEN
const SPOKEN = 0.005;
const MOST = 4000;  // lines at once; of more, the strongest
const HINT = "Point at a token, click it, or walk with the arrow keys: only its lines stay.";

function make(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

// A token, whose mark of a word's start stands back.
function write(label, token) {
  if (token.startsWith("▁")) make("tspan", { class: "faint" }, label, "▁");
  make("tspan", {}, label, token.replace(/^▁/, ""));
}

function decode(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function cut(text, width, measure) {
  if (measure(text) <= width) return text;
  let n = text.length;
  while (n > 1 && measure(text.slice(0, n) + "…") > width) n -= 1;
  return text.slice(0, n) + "…";
}

// Where every token goes: {x, y, w, h} of its box and the point (ax, ay) where its lines end.
function place(data, width, font) {
  const context = document.createElement("canvas").getContext("2d");
  const measure = (size) => (text) => { context.font = `${size}px ${font}`; return context.measureText(text).width; };
  const { keys, queries } = data;
  const reads = queries.reads;
  for (const [size, read] of [[20, true], [20, false], [18, true], [18, false], [16, false], [15, false]]) {
    const widths = (side) => side.tokens.map((text, i) =>
      Math.max(measure(size)(text), read && side.reads.length ? measure(13)("reads " + side.reads[i]) : 0, 14) + 14);
    const rows = [widths(keys), widths(queries)];
    const gaps = rows.map((row) => (width - row.reduce((a, b) => a + b, 0)) / Math.max(row.length - 1, 1));
    if (Math.min(...gaps) < 5) continue;
    const height = Math.round(size * 1.8);
    const top = 26, distance = Math.min(230, 130 + 6 * Math.max(...rows.map((row) => row.length)));
    const sides = rows.map((row, r) => {
      const gap = Math.min(gaps[r], 22);
      let x = (width - row.reduce((a, b) => a + b, 0) - gap * (row.length - 1)) / 2;
      const y = r ? top + height + distance : top;
      return row.map((w) => {
        const box = { x, y, w, h: height, ax: x + w / 2, ay: r ? y : y + height };
        x += w + gap;
        return box;
      });
    });
    const below = top + 2 * height + distance + (read && reads.length ? 40 : 20);
    return { flat: true, read, size, sides, height: below + 6, captions: [16, below] };
  }
  const size = width < 500 ? 15 : 18, step = size + 14, top = width < 640 ? 46 : 30;
  const widest = (side) => Math.max(...side.tokens.map((text, i) =>
    measure(size)(text) + (side.reads.length ? measure(13)("  reads " + side.reads[i]) : 0))) + 18;
  const room = width * 0.38;
  const half = [Math.min(widest(keys), room), Math.min(widest(queries), room)];
  const middle = Math.max(Math.min(width - half[0] - half[1], 420), width * 0.2);
  const left = Math.max((width - half[0] - half[1] - middle) / 2, 0);
  const count = Math.max(keys.tokens.length, queries.tokens.length);
  const sides = [keys, queries].map((side, r) => {
    const offset = top + ((count - side.tokens.length) * step) / 2;
    return side.tokens.map((_, i) => {
      const x = r ? left + half[0] + middle : left;
      const y = offset + i * step;
      return { x, y, w: half[r], h: step - 4, ax: r ? x : x + half[0], ay: y + (step - 4) / 2 };
    });
  });
  return { flat: false, size, sides, measure, height: top + count * step + 6, captions: width < 640 ? [14, 34] : [18, 18], left, middle, half };
}

// Buttons for the heads of the layer. Pressed: its lines are drawn. A double click leaves only this one.
function chooseHeads(root, state) {
  const { data } = state;
  const bar = root.querySelector(".heads");
  bar.replaceChildren();
  root.onkeydown = null;
  if (!data.heads) return;
  const label = document.createElement("span");
  label.textContent = "Heads";
  bar.appendChild(label);
  const set = (on) => {
    if (!on.length) return;  // the last one stays
    state.on = new Set(on);
    buttons.forEach((button, j) => button.setAttribute("aria-pressed", String(state.on.has(j))));
    draw(root, state);
  };
  const toggle = (j) => set(data.heads.map((_, i) => i).filter((i) => state.on.has(i) !== (i === j)));
  const add = (text, title, action) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = title;
    button.addEventListener("click", action);
    bar.appendChild(button);
    return button;
  };
  const buttons = data.heads.map(({ color, dashed }, j) => {
    const button = add(`${j + 1}`, `Head ${j + 1}: on or off (a double click leaves only this one)`, () => toggle(j));
    button.className = dashed ? "head dashed" : "head";
    button.style.setProperty("--role", color);
    button.setAttribute("aria-label", `Head ${j + 1}`);
    button.setAttribute("aria-pressed", String(state.on.has(j)));
    button.addEventListener("dblclick", () => set([j]));
    return button;
  });
  if (data.heads.length > 1) {
    add("all", "All heads of this layer", () => set(data.heads.map((_, j) => j)));
    add("one", `Only head ${data.chosen + 1}, the chosen one`, () => set([data.chosen]));
  }
  root.onkeydown = (event) => {
    const j = "123456789".indexOf(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || j < 0 || j >= data.heads.length) return;
    event.preventDefault();
    event.stopPropagation();
    toggle(j);
  };
}

function draw(root, state) {
  const { data } = state;
  const heads = data.heads ?? [{ color: data.queries.color }];
  const on = data.heads ? [...state.on].sort((a, b) => a - b) : [0];
  const width = Math.max(root.clientWidth, 280);
  const font = getComputedStyle(root).fontFamily;
  const layout = place(data, width, font);
  const [rows, columns] = data.shape.slice(-2);
  const weightOf = (head, q, k) => state.weights[(head * rows + q) * columns + k];
  const svg = make("svg", { viewBox: `0 0 ${width} ${layout.height}`, height: layout.height, role: "group", "aria-label": data.title, class: "picture" });
  make("title", {}, svg, data.title);

  const lines = make("g", {}, svg), numbers = make("g", {}, svg);
  // Lines of several heads between the same tokens lie beside each other, not on top of each other.
  const narrowest = Math.min(...layout.sides.flat().map((box) => (layout.flat ? box.w : box.h)));
  const apart = Math.min(layout.flat ? 6 : 4, (narrowest - 6) / on.length);
  const path = (head, q, k, weight, faded) => {
    const a = layout.sides[0][k], b = layout.sides[1][q];
    const beside = (on.indexOf(head) - (on.length - 1) / 2) * apart;
    const [ax, ay, bx, by] = layout.flat ? [a.ax + beside, a.ay, b.ax + beside, b.ay] : [a.ax, a.ay + beside, b.ax, b.ay + beside];
    const bend = layout.flat
      ? `C${ax},${(ay + by) / 2} ${bx},${(ay + by) / 2} ${bx},${by}`
      : `C${(ax + bx) / 2},${ay} ${(ax + bx) / 2},${by} ${bx},${by}`;
    const thick = on.length > 1 ? 4.5 : 7;
    const line = make("path", {
      class: "line", d: `M${ax},${ay} ${bend}`, stroke: heads[head].color,
      "stroke-width": (1 + thick * weight).toFixed(2), "stroke-opacity": faded ? 0.04 : (0.08 + 0.87 * weight).toFixed(3),
      "data-q": q, "data-k": k, "data-weight": weight, "data-head": head,
    }, lines);
    if (heads[head].dashed) line.setAttribute("stroke-dasharray", "7 5");
  };

  const tokens = [[], []];
  [data.keys, data.queries].forEach((side, r) => {
    const edge = layout.sides[r][0];
    const anchor = layout.flat ? width / 2 : r ? edge.x + edge.w : edge.x;
    make("text", { class: "caption", x: anchor, y: layout.captions[r], "text-anchor": layout.flat ? "middle" : r ? "end" : "start", style: `fill:${side.color}` }, svg,
      `${side.title} · ${r ? (side.reads.length ? "predicts" : "looks") : "looked at"}`);
    side.tokens.forEach((text, i) => {
      const box = layout.sides[r][i];
      const group = make("g", { class: "token", role: "button", tabindex: -1, "data-side": r, "data-index": i, "aria-pressed": "false" }, svg);
      const read = side.reads.length ? `, reads ${side.reads[i]}` : "";
      group.setAttribute("aria-label", `${i + 1} ${text}${read}`);
      make("title", {}, group, `${i + 1} ${text}${read}`);
      make("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: 7, fill: side.color }, group);
      if (layout.flat) {
        const label = make("text", { x: box.ax, y: box.y + box.h * 0.69, "text-anchor": "middle", style: `font-size:${layout.size}px` }, group);
        write(label, text);
        if (layout.read && side.reads.length) make("text", { class: "reads", x: box.ax, y: box.y + box.h + 16, "text-anchor": "middle" }, group, `reads ${side.reads[i]}`);
      } else {
        const label = make("text", { x: r ? box.x + 8 : box.x + box.w - 8, y: box.y + box.h * 0.7, "text-anchor": r ? "start" : "end", style: `font-size:${layout.size}px` }, group);
        const readsWidth = side.reads.length ? Math.min(layout.measure(13)("  reads " + side.reads[i]), (box.w - 16) * 0.6) : 0;
        write(label, cut(text, box.w - 16 - readsWidth, layout.measure(layout.size)));
        if (side.reads.length) make("tspan", { class: "reads", dx: 8 }, label, cut("reads " + side.reads[i], readsWidth, layout.measure(13)));
      }
      tokens[r].push(group);
    });
  });

  const spoken = root.querySelector(".spoken");
  const say = (focus, partners) => {
    const own = data[focus.side ? "queries" : "keys"];
    const who = focus.side && own.reads.length ? `reads ${own.reads[focus.index]}, predicts ${own.tokens[focus.index]}` : own.tokens[focus.index];
    spoken.textContent = `${who} — ${focus.side ? "looks at" : "is looked at by"} `
      + partners.slice(0, 5).map(([w, t, head]) => `${t} ${w.toFixed(2)}${on.length > 1 ? ` (head ${head + 1})` : ""}`).join(" · ");
  };
  const show = (focus) => {
    lines.replaceChildren();
    numbers.replaceChildren();
    tokens.flat().forEach((t) => t.classList.remove("on"));
    const faded = rows * columns * on.length < 900;
    let drawn = [];
    for (const head of on) for (let q = 0; q < rows; q++) for (let k = 0; k < columns; k++) {
      const weight = weightOf(head, q, k);
      const mine = focus && (focus.side ? focus.index === q : focus.index === k);
      if (weight >= (mine ? SPOKEN : FAINTEST) && (!focus || mine || faded)) drawn.push([head, q, k, weight, focus && !mine]);
    }
    const cut = drawn.length > MOST;
    if (cut) drawn = drawn.sort((a, b) => b[3] - a[3]).slice(0, MOST);
    drawn.forEach((line) => path(...line));
    if (!focus) { spoken.textContent = cut ? `${HINT} Of all lines, the ${MOST} strongest are drawn.` : HINT; return; }
    tokens[focus.side][focus.index].classList.add("on");
    const partners = [];
    layout.sides[1 - focus.side].forEach((box, i) => {
      const [q, k] = focus.side ? [focus.index, i] : [i, focus.index];
      const found = on.map((head) => [weightOf(head, q, k), data[focus.side ? "keys" : "queries"].tokens[i], head]).filter(([w]) => w >= SPOKEN);
      if (!found.length) return;
      tokens[1 - focus.side][i].classList.add("on");
      partners.push(...found);
      const [weight, , head] = found.reduce((a, b) => (b[0] > a[0] ? b : a));  // of several heads, the strongest
      const text = weight >= 0.995 ? "1.0" : weight.toFixed(2).slice(1);
      const at = layout.flat
        ? { x: box.ax, y: focus.side ? box.ay + 18 : box.ay - 8, "text-anchor": "middle" }
        : { x: focus.side ? box.ax + 6 : box.ax - 6, y: box.ay + 5, "text-anchor": focus.side ? "start" : "end" };
      make("text", { class: "number", ...at, ...(on.length > 1 ? { style: `fill:${heads[head].color}` } : {}) }, numbers, text);
    });
    say(focus, partners.sort((a, b) => b[0] - a[0]));
  };
  const settle = () => show(state.pinned);
  const pin = (side, index, quietly = false) => {
    const same = state.pinned && state.pinned.side === side && state.pinned.index === index;
    state.pinned = same ? null : { side, index };
    if (!quietly) state.report(state.pinned);
    tokens.flat().forEach((t) => {
      const on = state.pinned && +t.dataset.side === state.pinned.side && +t.dataset.index === state.pinned.index;
      t.classList.toggle("pinned", Boolean(on));
      t.setAttribute("aria-pressed", String(Boolean(on)));
    });
    settle();
  };
  const go = (side, index) => {
    const next = tokens[side][Math.max(0, Math.min(index, tokens[side].length - 1))];
    tokens.flat().forEach((t) => t.setAttribute("tabindex", -1));
    next.setAttribute("tabindex", 0);
    next.focus();
  };
  tokens.forEach((row, side) => row.forEach((node, index) => {
    node.addEventListener("pointerenter", () => show({ side, index }));
    node.addEventListener("pointerleave", settle);
    node.addEventListener("focus", () => show({ side, index }));
    node.addEventListener("blur", settle);
    node.addEventListener("click", () => { pin(side, index); });
    node.addEventListener("keydown", (event) => {
      const along = layout.flat ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
      const across = layout.flat ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
      if (event.key === "Enter" || event.key === " ") pin(side, index);
      else if (event.key === "Escape") { if (state.pinned) pin(state.pinned.side, state.pinned.index); }
      else if (along.includes(event.key)) go(side, index + (event.key === along[1] ? 1 : -1));
      else if (across.includes(event.key)) go(event.key === across[1] ? 1 : 0, index);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }));
  const last = state.pinned && state.pinned.index < tokens[state.pinned.side].length ? state.pinned : null;
  state.pinned = null;
  const had = root.getRootNode().activeElement?.closest?.(".token");  // the keyboard stays where it was
  const focused = had && root.contains(had) ? tokens[had.dataset.side]?.[had.dataset.index] : null;
  (focused ?? tokens[1][0])?.setAttribute("tabindex", 0);
  root.querySelector(".stage").replaceChildren(svg);
  if (last) pin(last.side, last.index, true); else settle();
  focused?.focus();
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { pinned: null, sentence: null, row: null, head: null, on: new Set() });
  if (!root.querySelector(".stage")) {
    const bar = document.createElement("div");
    bar.className = "heads";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Heads that are drawn");
    const stage = document.createElement("div"), spoken = document.createElement("div"), alt = document.createElement("p");
    stage.className = "stage";
    spoken.className = "spoken";
    spoken.setAttribute("aria-live", "polite");
    alt.className = "alt hidden";
    root.replaceChildren(bar, stage, spoken, alt);
  }
  const sentence = JSON.stringify([data.keys.tokens, data.queries.tokens]);
  if (state.sentence !== sentence) state.pinned = null;  // another sentence: the pinned token is gone; another head: it stays
  // The row that the server isolates, where it has changed; else what the reader pinned here stays.
  const row = data.row ?? null;
  if (row !== null && (row !== state.row || state.sentence !== sentence)) state.pinned = { side: 1, index: row };
  if (row === null && state.row !== null && state.pinned?.side === 1) state.pinned = null;
  state.row = row;
  state.sentence = sentence;
  // Another head is chosen: only it is on. Another layer: the same heads are on.
  const head = data.heads ? `${data.chosen} of ${data.heads.length}` : null;
  if (head !== state.head) state.on = new Set([data.chosen]);
  state.head = head;
  state.report = (pinned) => { if (data.reports) setTriggerValue("pin", pinned ?? { side: -1, index: 0 }); };
  state.data = data;
  state.weights = decode(data.weights);
  root.querySelector(".alt").textContent = data.alt;
  chooseHeads(root, state);
  draw(root, state);
  let before = root.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (Math.abs(root.clientWidth - before) < 2) return;
    before = root.clientWidth;
    draw(root, state);
  });
  watcher.observe(root);
  return () => watcher.disconnect();
}
