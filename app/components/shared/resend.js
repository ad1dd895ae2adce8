// A numbered choice is sent again until the page has received it (see numbered_choices.js), because what is sent while
// a page is replaced by another, or while the connection is interrupted, may get lost. Only the newest choice is sent
// again.

import { isRunning } from "./script_state.js";

const PATIENCE = 700;  // ms after which a choice that is not received is sent again, if the page does nothing meanwhile
const MOST = 5;  // times that a choice is sent again

export class Resend {
  // Sends a choice. `send` is called now, and again until the choice is received.
  choose(choice, send) {
    Object.assign(this, { unreceived: choice, send, times: 0 });
    send(choice);
    this.later();
  }

  // `number`: the number of the newest choice that the page has received.
  received(number) {
    if (!this.unreceived || this.unreceived.number > number) return;
    this.unreceived = null;
    clearTimeout(this.timer);
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PATIENCE);
  }

  check() {
    if (!this.unreceived) return;
    if (!isRunning()) {  // a page that runs may still receive it
      if (this.times === MOST) return;
      this.times += 1;
      this.send(this.unreceived);
    }
    this.later();
  }
}
