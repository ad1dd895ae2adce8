// Notes, next scene and clock of the scene that the window of the audience shows. The two windows are in the same
// browser and talk through a BroadcastChannel; the keys that are pressed here are sent to that window.

import { button, element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

const KEYS = ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "PageDown", "PageUp", " ", "Home", "End", "b", ".", "l"];
const REVEALED = [
  { last: _("The class sees: title and picture."), more: _("The class sees: title and picture; ↓ reveals more.") },
  { last: _("The class sees: title, picture and sentences."), more: _("The class sees: title, picture and sentences; ↓ reveals more.") },
  { last: _("The class sees: its question; ↓ reveals the answer.") },
];
const ANSWERED = _("The class sees: its question and the answer.");

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

class Presenter {
  constructor(root) {
    this.root = root;
    this.place = 0;
    this.level = 0;
    this.parts = this.markup();
    this.channel = new BroadcastChannel("headlight lecture");
    this.channel.onmessage = ({ data }) => this.receive(data);
    this.onKey = (event) => this.key(event);
    window.addEventListener("keydown", this.onKey, true);
    this.clock = setInterval(() => this.tick(), 500);
  }

  markup() {
    const { root } = this, top = element("div", "top", root);
    const parts = { place: element("span", "place", top), clock: element("span", { class: "clock", role: "timer" }, top) };
    const row = element("div", "buttons", top);
    button("", row, _("Back"), () => this.send({ key: "ArrowLeft" }));
    button("", row, _("Next"), () => this.send({ key: "ArrowRight" }));
    button("", row, _("Reveal"), () => this.send({ key: "ArrowDown" }));
    button("", row, _("Restart the clock"), () => this.send({ restart: true }));
    parts.plan = element("p", "note", root);
    parts.title = element("h1", "", root);
    parts.shown = element("p", "note", root);
    parts.text = element("p", "text", root);
    parts.notes = element("div", "notes", root);
    parts.next = element("p", "next", root);
    return parts;
  }

  // Its part of the page was removed; another one may be shown.
  end() {
    this.channel.close();
    window.removeEventListener("keydown", this.onKey, true);
    clearInterval(this.clock);
  }

  take(lesson) {
    this.lesson = lesson;
    this.draw();
    this.send({ ask: true });
  }

  send(what) { this.channel.postMessage({ from: "presenter", lesson: this.lesson.name, ...what }); }

  receive(message) {
    if (message.from !== "audience" || message.lesson !== this.lesson.name) return;
    const { place, level, last, revealed, started, entered } = message;
    if (message.left) Object.assign(this, { started: undefined, entered: undefined });
    else if (place >= this.lesson.scenes.length) {
      this.parts.shown.textContent = _("The lesson has more scenes by now. Reload this window.");
      return;
    }
    else Object.assign(this, { place, level, last, revealed, started, entered });
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !KEYS.includes(event.key)) return;
    if (event.key === " " && event.composedPath()[0].closest?.("button")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.send({ key: event.key });
  }

  draw() {
    const { parts, lesson, place } = this, scene = lesson.scenes[place], next = lesson.scenes[place + 1];
    parts.place.textContent = `${place + 1} / ${lesson.scenes.length}`;
    parts.title.textContent = scene.title;
    const { last, more } = REVEALED[this.level], sees = this.revealed ? ANSWERED : (this.level < this.last && more) || last;
    parts.shown.textContent = this.started ? sees : _("No window of this browser shows the lesson.");
    parts.text.textContent = scene.text;
    parts.notes.replaceChildren();
    for (const paragraph of scene.notes.split(/\n\s*\n/)) element("p", "", parts.notes, paragraph);
    parts.next.textContent = next ? _("Next: {title}", { title: next.title }) : _("This is the last scene.");
    this.tick();
  }

  tick() {
    const { parts, lesson, place } = this;
    if (!lesson) return;
    const before = lesson.scenes.slice(0, place).reduce((sum, scene) => sum + scene.minutes, 0), scene = lesson.scenes[place];
    const now = Date.now(), passed = this.started ? (now - this.started) / 1000 : 0;
    parts.clock.textContent = _("{passed} of {minutes} min", { passed: minutes(passed), minutes: lesson.minutes });
    parts.clock.classList.toggle("late", passed > 60 * (before + scene.minutes));
    const end = minutes(60 * (before + scene.minutes));
    const times = this.entered && { passed: minutes((now - this.entered) / 1000), planned: minutes(60 * scene.minutes), end };
    parts.plan.textContent = times ? _("{passed} in this scene, planned {planned}; planned to end at {end}.", times) : _("This scene is planned to end at {end}.", { end });
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const presenter = (root.headlightPresenter ??= new Presenter(root));
  presenter.take(data);
  return () => { if (!root.isConnected) presenter.end(); };
}
