// All heads of a layer side by side: what each attends to, the length of the vector that it adds, and what the model
// predicts without it or with it alone. A click on a token of the row above chooses the step, which is shown without the
// server. A click on a head shows it large.

import { writeInAddress } from "../shared/address.js";
import { element } from "../shared/dom.js";
import { headMap, sketch, unpacked } from "../shared/head_map.js";
import { _, ngettext } from "../shared/language.js";
import { decimals } from "../shared/numbers.js";
import { currentChoice, numbered } from "../shared/numbered_choices.js";
import { centred, radios } from "../shared/radios.js";
import { measurer } from "../shared/svg.js";
import { put } from "../shared/token.js";
import { scaleOfPage, watchSize } from "../shared/watch_size.js";

const MODES = ["without", "alone"], STOPPED = 500;  // ms after which the page is told the step

const token = (className, parent, text) => {
  const node = element("span", className, parent);
  node.dir = "auto";
  put(node, text);
  return node;
};

// A sentence with a token in the place of "{token}".
function sentence(parent, text, tokenText) {
  text.split("{token}").forEach((part, index) => {
    if (index) token("", element("b", "", parent), tokenText);
    parent.append(part);
  });
}

const behaviour = {
  build(root) {
    const { data } = this;
    const box = this.box = element("div", { class: "heads picture", role: "figure", "aria-label": data.alt });
    box.style.setProperty("--hue", data.color);
    box.style.setProperty("--decoder", data.decoder);
    const steps = element("div", "steps", box);
    element("span", "label", steps, _("Next token"));
    this.row = element("div", "row sideways", steps);
    const predicted = data.steps.map(({ predicts }) => (node) => token("", node, predicts));
    this.steps = radios(this.row, _("Step of the translation"), predicted, this.at, (index) => this.step(index));
    const modes = [_("Without this head"), _("Only this head")];
    this.modes = radios(element("div", "modes segments", steps), _("Which heads are left"), modes, this.mode, (index) => this.leave(index));
    this.says = element("p", { class: "says", "aria-live": "polite" }, box);
    this.parts = [];
    const cards = data.heads.map((head, index) => (node) => this.card(node, index));
    this.cards = radios(element("div", "grid", box), _("Heads"), cards, this.head, (index) => this.choose(index));
    const one = element("div", "one", box);
    this.title = element("div", "title", one);
    this.map = element("div", "", one);
    this.pointed = element("div", { class: "pointed", role: "status" }, one);
    root.replaceChildren(box);
    this.watch = watchSize(box, () => { if (box.clientWidth !== this.width) this.draw(); });
  },
  card(button, index) {
    const name = element("span", "name", button, _("Head {head}", { head: index + 1 }));
    const parts = { length: element("i", "", name), size: element("i", "", element("span", "size", button)) };
    parts.map = element("span", "map", button);
    parts.without = element("span", "without", button);
    this.parts[index] = parts;
  },
  step(index) {
    this.at = index;
    this.show();
    writeInAddress({ t: index + 1 });
    this.report();
  },
  // Reports the step to the page once the reader stays at it.
  report() {
    this.choice = this.numbered("step", this.at);
    clearTimeout(this.stopped);
    this.stopped = setTimeout(() => { this.sendChoice(this.choice); this.choice = null; }, STOPPED);
  },
  // Reports another choice; a step that is not reported yet gets a newer number.
  send(name, index) {
    this.sendChoice(this.numbered(name, index));
    if (this.choice) this.report();
  },
  leave(mode) {
    this.mode = mode;
    this.show();
    this.send("mode", mode);
  },
  choose(index) {
    if (index === this.head) return;
    this.head = index;
    this.show();
    this.drawOne();
    this.send("head", index);
  },
  draw() {
    const { data } = this;
    this.width = this.box.clientWidth;
    if (!this.width) return;
    this.unit = scaleOfPage();
    const count = data.heads.length, phone = matchMedia("(max-width: 640px)").matches;
    const columns = count <= 4 ? Math.max(count, 2) : count <= 8 || phone ? 4 : 8;
    this.box.style.setProperty("--columns", columns);
    this.box.classList.toggle("narrow", columns > 4);
    const shape = { rows: data.rows.length, columns: data.columns.length, color: data.color };
    this.parts.forEach(({ map: place }, index) => {
      place.replaceChildren();
      sketch(place, unpacked(data.heads[index].weights), { ...shape, allowed: this.allowed(index) }, place.clientWidth, place.clientHeight);
    });
    this.drawOne();
    this.show();
  },
  // The mask of a head; there is only one if it is the same for all.
  allowed(head) { return this.data.allowed[head] ?? this.data.allowed[0]; },
  drawOne() {
    const { data, unit } = this, width = this.map.clientWidth;
    this.map.replaceChildren();
    this.drawn = headMap(this.map, { ...data, about: data.heads[this.head].about, allowed: this.allowed(this.head) }, { width, height: Math.min(310 * unit, width), measure: measurer(this.box), unit, pointed: (text) => { this.pointed.textContent = text; } });
    this.drawn.draw(unpacked(data.heads[this.head].weights));
    this.drawn.mark(data.framed ? this.at : null);
    this.title.textContent = data.heads[this.head].title;
  },
  show() {
    const { data, at } = this, step = data.steps[at];
    this.steps.mark(at);
    centred(this.row, this.steps.buttons[at]);
    this.cards.mark(this.head);
    this.modes.mark(this.mode);
    const name = MODES[this.mode];
    const longest = Math.max(...data.heads.map((head) => head.lengths[at]), 1e-9);
    this.parts.forEach((parts, index) => {
      const head = data.heads[index], without = head[name][at];
      const length = decimals(head.lengths[at], 2), values = { head: index + 1, length, token: without.token, probability: without.probability };
      parts.length.textContent = _("length {length}", { length });
      parts.size.style.width = `${(100 * head.lengths[at]) / longest}%`;
      parts.without.replaceChildren();
      parts.without.classList.toggle("other", without.token !== step.top);
      token("token", parts.without, without.token);
      element("span", "percent", parts.without, without.probability);
      const whole = this.nameOf(values);
      this.cards.buttons[index].setAttribute("aria-label", whole);
      this.cards.buttons[index].title = whole;
    });
    this.describe(step);
    this.drawn?.mark(data.framed ? at : null);
  },
  // What a head writes, and what is predicted; in the encoder, it writes a vector for each token of the source.
  nameOf(values) {
    if (this.data.isEncoder) {
      return this.mode
        ? _("Head {head} writes vectors of mean length {length}; with it alone the next token is {token}, {probability}", values)
        : _("Head {head} writes vectors of mean length {length}; without it the next token is {token}, {probability}", values);
    }
    return this.mode
      ? _("Head {head} writes a vector of length {length}; with it alone the next token is {token}, {probability}", values)
      : _("Head {head} writes a vector of length {length}; without it the next token is {token}, {probability}", values);
  },
  // Describes this step in a sentence.
  describe(step) {
    const { heads } = this.data, { at, says } = this, name = MODES[this.mode], count = heads.length;
    const others = heads.filter((head) => head[name][at].token !== step.top).length;
    const better = this.mode ? (a, b) => a > b : (a, b) => a < b;
    const found = heads.reduce((best, head, index) => (better(head[name][at].kept, heads[best][name][at].kept) ? index : best), 0);
    const best = { head: found + 1, kept: heads[found][name][at].keptText, probability: step.probability };
    says.replaceChildren();
    if (step.attended && count > 1) {
      says.append(ngettext("Here all {heads} heads attend most to the same token.", "Here the {heads} heads attend most to {count} different tokens.", step.attended, { heads: count }), " ");
    }
    const whole = { probability: step.topProbability };
    sentence(says, this.data.isEdited
      ? _("As the model is edited, the next token is {token} ({probability}).", whole)
      : _("With all heads the next token is {token} ({probability}).", whole), step.top);
    if (count === 1 && this.mode) {
      says.append(" ", _("This layer has one head, so the prediction with it alone is the same."));
      return;
    }
    if (count === 1) {
      says.append(" ", _("This layer has one head."), " ");
      sentence(says, _("Without it, {token} has {kept} instead of {probability}.", best), step.predicts);
      return;
    }
    says.append(" ", this.mode ? this.predictedAlone(others, count) : this.predictedWithout(others, count), " ");
    sentence(says, this.mode
      ? _("Its probability is highest with head {head} alone: {token} has {kept} instead of {probability}.", best)
      : _("Its probability is lowest without head {head}: {token} has {kept} instead of {probability}.", best), step.predicts);
    const none = { count, probability: step.none };
    says.append(" ", step.isNeeded
      ? _("Without all {count} it has {probability}.", none)
      : _("Without all {count} it has {probability}: this step does not need this layer's heads.", none));
  },
  // What is predicted by each head alone; `others`: how many predict another token.
  predictedAlone(others, count) {
    if (others === count) return _("No head alone predicts it.");
    if (!others) return _("Each head alone predicts it.");
    return _("With one head alone, another token is predicted in {others} of {count} cases.", { others, count });
  },
  // What is predicted without each head.
  predictedWithout(others, count) {
    return others ? _("Without one head, another token is predicted in {others} of {count} cases.", { others, count }) : _("It stays the same without any one head.");
  },
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const { mode: left, received, step, head: shown, alt, ...drawn } = data, text = JSON.stringify(drawn);
  const isOther = root.view && root.view.data.subject !== data.subject;
  if (isOther) delete root.headlightChoices?.step;  // it is a step of the sentence before
  if (isOther || (root.view && root.view.data.layer !== data.layer)) delete root.headlightChoices?.head;  // of that layer
  const mode = currentChoice(root, "mode", { chosen: left, count: MODES.length, received });
  const at = currentChoice(root, "step", { chosen: Math.min(step, data.steps.length - 1), count: data.steps.length, received });
  const head = currentChoice(root, "head", { chosen: shown, count: data.heads.length, received });
  let view = root.view, waits = false;  // whether a step has not been reported yet
  if (!view || view.text !== text) {
    view?.watch.disconnect();
    clearTimeout(view?.stopped);
    waits = Boolean(view?.choice) && !isOther;
    view = root.view = Object.assign(Object.create(behaviour), { data, text, at, head, mode });
    view.build(root);
    view.draw();
  } else if (view.mode !== mode || view.at !== at || view.head !== head) {
    const isOtherHead = view.head !== head;
    Object.assign(view, { mode, at, head });
    view.show();
    if (isOtherHead) view.drawOne();
  }
  view.box.setAttribute("aria-label", alt);
  const turn = view.turn = {};
  view.numbered = (name, index) => numbered(root, name, index);
  view.sendChoice = (choice) => setTriggerValue("chosen", choice);
  if (waits) view.report();
  return () => {
    if (root.view !== view || view.turn !== turn) return;  // a later call uses the view now, or has replaced it
    clearTimeout(view.stopped);
    view.watch.disconnect();
    delete root.view;
  };
}
