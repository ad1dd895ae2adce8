// A lecture: keys walk the scenes, reveal what a scene has, and change how the window looks. The server decides which
// scene is shown; the browser decides what of it is revealed, and has the blank screen and the list of keys. The
// presenter's window follows through a BroadcastChannel of this browser, and keys that are pressed there act here.

import { element, within } from "../shared/dom.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { Fit } from "./fit.js";
import { Resend } from "../shared/resend.js";
import { isRevealed, onRevealed } from "../shared/revealed.js";
import { keyList } from "./key_list.js";
import { listen } from "./keys.js";
import { hideWhatIsLeft } from "./left_page.js";
import { plotlyLibrary } from "../shared/plotly_library.js";
import { otherScheme } from "./scheme.js";

const PICTURE = 0, TEXT = 1, QUESTION = 2;  // levels: up to which part a scene is revealed
const OWN = "headlight lecture", STARTED = "headlight lecture started";  // names in the storage of the tab
const BOX = ".st-key-sentence input";
const IDLE = 2000;  // ms after which the library of later scenes is loaded

class Lecture {
  constructor() {
    this.level = PICTURE;
    this.fit = new Fit();
    this.resend = new Resend();
    this.channel = new BroadcastChannel("headlight lecture");
    this.channel.onmessage = ({ data }) => this.receive(data);
    onRevealed(() => { if (this.data) this.broadcast(); });
    window.addEventListener("pagehide", () => this.leave());
    listen((key) => this.wants(key), (key) => this.act(key));
  }

  // Takes over what the server says.
  take(data, root, send) {
    const isOtherScene = this.data && (this.data.lesson !== data.lesson || this.data.place !== data.place);
    const isFirst = !this.data;
    Object.assign(this, { data, root, send });
    this.resend.received(data.received);
    if (isOtherScene || isFirst) this.entered();
    if (this.level === QUESTION && !this.isAsked) this.level = data.text ? TEXT : PICTURE;  // the page has taken it away
    // Loads the library of charts early. If that fails, a chart that needs it reports the error.
    if (isFirst && data.lesson) setTimeout(() => plotlyLibrary().catch(() => {}), IDLE);
    hideWhatIsLeft(isOtherScene);
    this.remember(isFirst);
    document.documentElement.classList.toggle("lecture", data.is_on);
    this.fit.show(data.is_on ? `${data.lesson} ${data.place} ${data.own}` : "");
    this.draw();
    this.broadcast();
  }

  get name() { return this.data.lesson ? "scene" : "page"; }
  get place() {
    const { place, count, received } = this.data;
    return currentChoice(this.root, this.name, { chosen: place, count, received });
  }
  get isAsked() { return currentChoice(this.root, "question", { chosen: Number(this.data.is_asked), count: 2, received: this.data.received }) === 1; }
  get last() { return this.data.question ? QUESTION : this.data.text ? TEXT : PICTURE; }

  entered() {
    this.level = this.data.text && this.next ? this.next : PICTURE;
    this.next = undefined;
    this.free();
  }

  // After a reload the server has only the scene's own sentence. The tab stores the lecturer's sentence and sends it
  // again.
  remember(isFirst) {
    const { lesson, place, own } = this.data;
    if (!lesson) return;
    const kept = JSON.parse(sessionStorage.getItem(OWN) ?? "null");
    if (isFirst && !own && kept?.lesson === lesson && kept.place === place) this.send("kept", kept.own);
    else if (own) sessionStorage.setItem(OWN, JSON.stringify({ lesson, place, own }));
    else sessionStorage.removeItem(OWN);
    const started = JSON.parse(sessionStorage.getItem(STARTED) ?? "null");
    if (started?.lesson !== lesson) this.startClock();
    else if (started.place !== place) this.startClock(started.at);
  }

  // Stores when the lesson began (`at`) and when its scene was entered.
  startClock(at = Date.now()) {
    const { lesson, place } = this.data;
    sessionStorage.setItem(STARTED, JSON.stringify({ lesson, at, place, entered: Date.now() }));
  }

  draw() {
    const { is_on, lesson, text } = this.data, page = document.documentElement;
    page.dataset.revealed = this.level;
    const parts = (this.root.headlightLine ??= this.parts());
    parts.line.hidden = !is_on || !lesson;
    if (parts.line.hidden) return;
    if (parts.text.textContent !== text) parts.text.textContent = text;
    parts.text.classList.toggle("shown", this.level >= TEXT);
    parts.place.textContent = `${this.place + 1} / ${this.data.count}`;
    parts.done.style.width = `${(100 * (this.place + 1)) / this.data.count}%`;
  }

  parts() {
    const line = element("div", "line", this.root);
    const text = element("p", "text", line), place = element("span", "place", line);
    return { line, text, place, done: element("div", "done", line) };
  }

  wants(key) {
    if (!this.root?.isConnected) return false;
    if (!this.data.is_on) return key.toLowerCase() === "p";
    if (this.list?.open) return ["?", "Escape"].includes(key);
    if (this.black) return true;
    if (key === "Escape") return !document.querySelector("[data-testid=stPopoverBody], [role=dialog]");
    // At QUESTION, the card of the question handles the key: it reveals the answer.
    if (key === "ArrowDown") return Boolean(this.data.lesson) && this.level < QUESTION;
    if (key === "ArrowUp") return Boolean(this.data.lesson);
    return ["ArrowRight", "ArrowLeft", "PageDown", "PageUp", " ", "Home", "End"].includes(key) || "plbfsc.?".includes(key.toLowerCase());
  }

  act(key) {
    if (this.black) return this.blank();
    const { place } = this;
    const walks = { ArrowRight: place + 1, PageDown: place + 1, " ": place + 1, ArrowLeft: place - 1, PageUp: place - 1, Home: 0, End: this.data.count - 1 };
    if (key in walks) return this.walk(walks[key], ["PageDown", "PageUp", " "].includes(key) ? TEXT : PICTURE);
    const does = {
      ArrowDown: () => this.reveal(1), ArrowUp: () => this.reveal(-1),
      p: () => this.choose("lecture", this.data.is_on ? 0 : 1), escape: () => this.escape(),
      s: () => this.ask(), c: () => this.choose("class", 1), l: () => this.recolor(), b: () => this.blank(), ".": () => this.blank(), f: () => this.fill(), "?": () => this.help(),
    };
    (does[key] ?? does[key.toLowerCase()])?.();
  }

  // `resend` may send the choice again later. It then uses the `this.send` of that time, which belongs to the component
  // that is on the page then.
  choose(name, index) { this.resend.choose(numbered(this.root, name, index), (choice) => this.send("chosen", choice)); }

  walk(goal, level) {
    const place = within(goal, 0, this.data.count - 1);
    if (place === this.place) return;
    for (const name of Object.keys(window.headlightForms ?? {})) delete window.headlightForms[name];
    this.next = level;
    this.choose(this.name, place);
    this.draw();
  }

  reveal(by) {
    const before = this.level;
    const levels = [PICTURE, TEXT, QUESTION].filter((level) => level <= this.last && (level !== TEXT || this.data.text));
    this.level = levels[within(levels.indexOf(before) + by, 0, levels.length - 1)];
    if (before === QUESTION !== (this.level === QUESTION)) this.choose("question", Number(this.level === QUESTION));
    this.draw();
    this.broadcast();
  }

  escape() {
    if (this.list?.open) return this.list.close();
    if (focused() !== document.body) return this.free();
    this.choose("lecture", 0);
  }

  // Takes the focus from a picture, so that the lecture gets its keys again.
  free() { focused()?.blur?.(); }

  // Opens the sentence box over the page.
  ask() {
    const box = document.querySelector(BOX), page = document.documentElement;
    if (!box) return;
    const before = box.value;
    page.classList.add("asks");
    const close = () => { page.classList.remove("asks"); box.removeEventListener("keydown", onKey); box.removeEventListener("blur", close); };
    const onKey = (event) => {
      if (event.key === "Enter") setTimeout(() => { box.blur(); close(); }, 0);
      if (event.key !== "Escape") return;
      event.stopPropagation();
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, before);
      box.dispatchEvent(new Event("input", { bubbles: true }));
      setTimeout(() => { box.blur(); close(); }, 0);
    };
    box.addEventListener("keydown", onKey);
    box.addEventListener("blur", close);
    box.focus();
    box.select();
  }

  recolor() { otherScheme(); }

  blank() {
    if (this.black) this.black.remove();
    this.black = this.black ? null : element("div", "black", this.root);
  }

  fill() {
    if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen().catch(() => {});
  }

  help() {
    if (this.list?.open) this.list.close(); else this.list = this.keyList(this.root, this.data.lesson, () => this.choose("take_home", 1));
  }

  // Tells the presenter's window that this window no longer shows the lesson.
  leave() {
    if (this.reportedLesson) this.channel.postMessage({ from: "audience", lesson: this.reportedLesson, left: true });
    this.reportedLesson = "";
  }

  broadcast() {
    const { is_on, lesson, place } = this.data;
    if (!is_on || lesson !== this.reportedLesson) this.leave();
    if (!is_on || !lesson) return;
    this.reportedLesson = lesson;
    const { at, entered } = JSON.parse(sessionStorage.getItem(STARTED));
    this.channel.postMessage({ from: "audience", lesson, place, level: this.level, last: this.last, revealed: this.level === QUESTION && isRevealed(), started: at, entered });
  }

  receive(message) {
    if (message.from !== "presenter" || !this.data?.is_on || message.lesson !== this.data.lesson) return;
    if (message.restart) this.startClock();
    if (message.key === "ArrowDown" && this.level === QUESTION) document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", cancelable: true }));
    else if (message.key && this.wants(message.key)) this.act(message.key);
    else this.broadcast();
  }
}

const focused = () => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node;
};

export default function ({ data, parentElement, setTriggerValue }) {
  const lecture = (window.headlightLecture ??= new Lecture());
  lecture.keyList = keyList;  // of the newest script: each language has a script of its own
  lecture.take(data, parentElement.querySelector(".root"), setTriggerValue);
}
