// The time machine: a row for each snapshot of a run. Above the rows is the translation by the chosen snapshot, beside
// them one of its heads. The rows, the slider, the arrow keys and Play choose a snapshot without the server. The server
// is only sent the snapshot at which the reader stops.

import { itemByKey } from "../shared/arrow_keys.js";
import { button, element } from "../shared/dom.js";
import { headMap, unpacked } from "../shared/head_map.js";
import { _, withLabel, ngettext } from "../shared/language.js";
import { playText } from "../shared/player_buttons.js";
import { measurer } from "../shared/svg.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";

const STEP = 700, REST = 500;  // ms: per snapshot during Play; from the reader's choice until it is sent

// Words of a translation; those that the snapshot before did not write are marked.
function writeWords(place, words) {
  place.replaceChildren();
  for (const [word, changed] of words) {
    const start = word.length - word.trimStart().length;
    place.append(word.slice(0, start));
    element(changed ? "mark" : "span", "", place, word.slice(start));
  }
}

// `model`: the name of the model, if it is not the one that translates at the top of the page. `continued`: whether the
// run has begun with the weights of a checkpoint, so that its first model is not untrained.
function whoWrites({ number, update }, { model, continued }) {
  if (number === 0 && continued) return model ? _("Before this training {model} writes", { model }) : _("Before this training it writes");
  if (number === 0) return model ? _("The untrained {model} writes", { model }) : _("The untrained model writes");
  if (model) return ngettext("After {update} update {model} writes", "After {update} updates {model} writes", number, { update, model });
  return ngettext("After {update} update it writes", "After {update} updates it writes", number, { update });
}

function build(root, machine) {
  const box = element("div", "machine picture");
  const line = element("div", { class: "line", "data-unsaved": "" }, box);
  const play = button("", line, playText(false), () => machine.playing ? machine.pause() : machine.start());
  const slider = element("input", { type: "range", min: 0, "aria-label": _("Snapshot") }, line), news = element("span", { class: "news", role: "status" }, line);
  const label = element("label", "", line);
  element("span", "word", label, _("Run"));
  const run = element("select", { "aria-label": _("Run") }, label);
  const problem = element("p", "problem", box);
  const stage = element("div", "stage downwards", box);
  const when = element("div", "when", stage), says = element("div", { class: "says", dir: "auto" }, stage);
  const list = element("div", "snapshots", box);
  const names = element("div", "names", list);
  element("span", "update", names, _("update"));
  const written = element("span", "", names, _("what it writes (greedy decoding)"));
  written.append(" ");
  element("mark", "", written, _("new words"));
  const share = element("span", "share", names);
  const rows = element("div", { class: "rows downwards", role: "radiogroup", "aria-label": _("Snapshots") }, list);
  const head = element("div", "head", box);
  const title = element("div", "title", head), map = element("div", "map", head), pointed = element("div", { class: "pointed", role: "status" }, head);
  const open = button({ class: "open", "data-unsaved": "" }, head, _("Use this snapshot on all pages"), () => machine.send("opened", machine.data.rows[machine.at].number));
  root.replaceChildren(box);
  Object.assign(machine, { box, line, play, slider, news, run, problem, stage, when, says, list, share, rows, head, title, map, pointed, open });

  slider.addEventListener("input", () => machine.take(Number(slider.value)));
  rows.addEventListener("keydown", (event) => {
    const goal = itemByKey(event, machine.at, machine.data.rows.length);
    if (goal === undefined) return;
    machine.take(goal);
    rows.children[machine.at].focus({ preventScroll: true });
  });
  run.addEventListener("change", () => machine.send("run", run.value));
  machine.watch = watchSize(box, () => { if (box.clientWidth !== machine.width) machine.drawHead(); });
}

const behaviour = {
  get at() {
    const found = this.data.rows.findIndex((row) => row.number === this.update);
    return found < 0 ? this.data.rows.length - 1 : found;  // the newest, also after newer ones have arrived
  },
  take(index, played = false) {
    if (!played) this.stop();
    this.update = index === this.data.rows.length - 1 ? null : this.data.rows[index].number;
    this.show();
    clearTimeout(this.rest);
    if (!played) this.sendLater();
  },
  sendLater() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.send("snapshot", this.update ?? -1), REST);
  },
  start() {
    clearTimeout(this.rest);
    if (this.at === this.data.rows.length - 1) this.take(0, true);
    this.playing = setInterval(() => {
      if (!this.box.isConnected) return clearInterval(this.playing);
      const next = this.at + 1;
      if (this.data.rows[next]?.words) this.take(next, true);
      if (next >= this.data.rows.length - 1) this.pause();
    }, STEP);
    this.play.textContent = playText(true);
  },
  // Ends Play at the snapshot that is shown now.
  pause() {
    this.stop();
    this.sendLater();
  },
  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = playText(false);
  },
  sayPointed(text) {
    if (this.pointed.textContent !== text) this.pointed.textContent = text;  // each change is announced
  },
  drawRows() {
    const { rows } = this.data;
    while (this.rows.children.length > rows.length) this.rows.lastChild.remove();
    rows.forEach((row, index) => {
      const node = this.rows.children[index] ?? button({ role: "radio" }, this.rows, undefined, () => this.take(index));
      const text = JSON.stringify(row);
      if (node.row === text) return;
      node.row = text;
      node.className = row.words ? "" : "pending";
      node.replaceChildren();
      element("span", "update", node, row.update);
      const written = element("span", { class: "text", dir: "auto" }, node);
      if (!row.words) { written.textContent = "…"; return; }
      writeWords(written, row.words);
      if (row.probability === undefined) return;  // a sample translation
      const bar = element("span", "bar", node);
      bar.title = _("loss {loss} nats per token", { loss: row.loss });
      element("i", "", bar).style.width = `${100 * row.share}%`;
      element("span", "hidden", node, bar.title);
      element("span", "percent", node, row.probability);
    });
  },
  drawHead() {
    const { head } = this.data;
    this.width = this.box.clientWidth;
    this.map.replaceChildren();
    this.drawn = null;
    this.sayPointed(head?.reads ?? "");
    if (!head || !this.width) return;
    const unit = scaleOfPage();
    const width = this.head.clientWidth;
    this.drawn = headMap(this.map, head, { width, height: Math.min(310 * unit, width), measure: measurer(this.box), unit, pointed: (text) => this.sayPointed(text || head.reads) });
    this.show();
  },
  show() {
    const index = this.at, row = this.data.rows[index];
    if (!row) return;
    this.slider.value = index;
    const after = whoWrites(row, this.data);
    this.slider.setAttribute("aria-valuetext", withLabel(after, (row.words ?? []).map(([word]) => word).join("")));
    this.when.textContent = after;
    writeWords(this.says, row.words ?? []);
    [...this.rows.children].forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    });
    const chosen = this.rows.children[index], top = chosen.offsetTop - this.rows.offsetTop;
    if (top < this.rows.scrollTop) this.rows.scrollTop = top;
    const under = top + chosen.offsetHeight - this.rows.clientHeight;
    if (under > this.rows.scrollTop) this.rows.scrollTop = under;
    this.open.disabled = !row.words;
    if (this.drawn && row.weights) this.drawn.draw(unpacked(row.weights));
  },
  draw() {
    const { data } = this, { rows, head } = data;
    this.box.setAttribute("role", "figure");
    this.box.setAttribute("aria-label", data.alt);
    this.box.style.setProperty("--decoder", data.color);
    if (JSON.stringify(data.runs) !== this.runs) {
      this.run.replaceChildren(...data.runs.map((name) => new Option(name, name)));
      this.runs = JSON.stringify(data.runs);
    }
    this.run.value = data.run;
    const none = !rows.length;
    for (const part of [this.stage, this.list, this.head]) part.style.display = none ? "none" : "";
    this.head.style.display = head ? "" : "none";
    this.box.classList.toggle("headless", !head);
    this.play.disabled = this.slider.disabled = rows.length < 2;
    this.problem.textContent = data.problem;
    this.problem.style.display = data.problem ? "" : "none";
    this.news.textContent = data.news;
    this.share.textContent = data.share;
    this.slider.max = Math.max(rows.length - 1, 1);
    if (none) return;
    this.title.textContent = head?.title ?? "";
    this.drawRows();
    const text = JSON.stringify(head);
    if (text !== this.headText) {
      this.headText = text;
      this.drawHead();
    }
    this.show();
  },
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  let machine = root.machine;
  if (!machine) {
    machine = root.machine = Object.create(behaviour);
    build(root, machine);
  }
  const turn = machine.turn = {};
  machine.data = data;
  machine.send = (name, value) => setTriggerValue(name, value);
  const subject = data.subject.join();
  if (machine.subject !== subject) {  // another run, or another scene of a lesson
    machine.stop();
    clearTimeout(machine.rest);
    machine.subject = subject;
    machine.update = data.at < 0 ? null : data.at;
  }
  machine.draw();
  return () => {
    if (machine.turn !== turn) return;  // a later call uses the machine now
    machine.stop();
    clearTimeout(machine.rest);
    machine.watch.disconnect();
    delete root.machine;
  };
}
