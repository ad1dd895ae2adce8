// Keeps the whole page of a lecture in the window. If a long sentence makes the page higher than the window, all its
// type becomes smaller, step by step; with the next sentence it is as large as before. Before the first step, pictures
// that fill the window are measured again, because what is above them may have become higher.

import { RUNNING } from "../shared/script_state.js";

const STEPS = [1, 0.97, 0.94, 0.91, 0.88, 0.84, 0.8, 0.75, 0.7];
const QUIET = 150;  // ms without a change of size
const LOOKS = 3;  // the page must be too high in this many looks before its type becomes smaller
const AT_WORK = `${RUNNING}, [data-stale="true"]`;

const found = new Map();  // the step, by what is shown and the size of the window

export class Fit {
  constructor() {
    this.watcher = new ResizeObserver(() => this.soon());
    // Only for a change of the window, not for the event that `look` sends.
    this.again = (event) => { if (event.isTrusted) this.show(this.shown, true); };
    window.addEventListener("resize", this.again);
  }

  // `shown`: a name of what is on the screen; "": no lecture.
  show(shown, always = false) {
    if (this.shown === shown && !always) return;
    this.shown = shown;
    this.watcher.disconnect();
    const block = document.querySelector("[data-testid=stMainBlockContainer]");
    if (shown && block) this.watcher.observe(block);
    this.over = Infinity;
    this.seen = 0;
    this.step(shown ? found.get(this.name()) ?? 0 : 0);
    if (shown) this.soon();
  }

  name() { return `${this.shown} ${innerWidth} ${innerHeight}`; }

  step(at) {
    this.at = at;
    document.documentElement.style.setProperty("--lecture-shrink", STEPS[at]);
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), QUIET);
  }

  look() {
    const main = document.querySelector("[data-testid=stMain]");
    if (!this.shown || !main || innerWidth < 641) return;
    if (document.querySelector(AT_WORK)) return void this.soon();
    const over = main.scrollHeight - main.clientHeight;
    // If the page is not lower than before, a picture fills the window, and still smaller type does not help.
    if (over <= 1 || this.at + 1 === STEPS.length || over >= this.over) return;
    if (this.at === 0 && (this.seen += 1) < LOOKS) {
      window.dispatchEvent(new Event("resize"));
      return void this.soon();
    }
    this.over = over;
    this.step(this.at + 1);
    found.set(this.name(), this.at);
    this.soon();
  }
}
