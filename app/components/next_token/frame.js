// Builds all parts of the picture, once per translation. Everything that a step changes gets its place and its size
// here.

import { button, element } from "../shared/dom.js";
import { _, ngettext } from "../shared/language.js";
import { playerButtons } from "../shared/player_buttons.js";
import { make } from "../shared/svg.js";

export const MOST_ROWS = 9, FEWEST_ROWS = 5;  // rows of the distribution: in a wide frame, on a phone

function stack(parent, className, name, layers) {
  const box = element("div", `stack ${className}`, parent);
  element("span", "", box, name);
  const lines = element("div", "layers", box);
  for (let n = 0; n < Math.min(layers, 8); n++) element("i", "", lines);
  element("small", "", box, ngettext("{count} layer", "{count} layers", layers));
  return box;
}

// A token that continues a word is close to the token before it.
function chip(parent, tag, text) {
  const made = element(tag, `chip${/^[\p{L}\p{N}]/u.test(text) ? " joined" : ""}`, parent);
  element("span", "", made, text.replace(/^▁(?=.)/, ""));
  made.title = text;
  return made;
}

function tokens(parent, className, title) {
  const side = element("div", `side ${className}`, parent);
  const heading = element("h3", "", side, title);
  const chips = element("div", "chips sideways", side);
  return { side, heading, chips };
}

// Makes all parts; `walk` has the functions that the buttons call.
export function build(root, frame, walk) {
  const parts = { root, frame };
  const line = element("div", "line");
  parts.player = playerButtons(line, walk);
  parts.at = element("span", "at", line);
  parts.says = element("span", { class: "says", role: "status" }, line);

  const scene = (parts.scene = element("div", "scene"));
  parts.paths = make("svg", { class: "paths", "aria-hidden": "true" }, scene);

  const source = tokens(scene, "source", frame.source.title);
  element("span", "more", source.heading, frame.source.more);
  parts.source = source.side;
  parts.sourceChips = source.chips;
  source.chips.tabIndex = 0;  // keys can scroll a long sentence
  source.chips.setAttribute("role", "list");
  source.chips.setAttribute("aria-label", `${frame.source.title}, ${frame.source.more}`);
  parts.weights = frame.source.tokens.map((token) => {
    const made = chip(source.chips, "span", token);
    made.setAttribute("role", "listitem");
    const track = element("i", "", made);
    return { chip: made, bar: element("b", "", track) };
  });
  parts.encoder = stack(scene, "encoder", _("Encoder"), frame.encoderLayers);

  const written = tokens(scene, "written", frame.written.title);
  parts.written = written.side;
  parts.writtenChips = written.chips;
  element("span", "more", written.heading, frame.written.more);
  if (frame.least) {
    const head = element("div", "head");
    written.side.prepend(head);
    head.append(written.heading);
    button("least", head, frame.least.words, () => walk.to(frame.least.step));
  }
  written.chips.setAttribute("role", "group");
  written.chips.setAttribute("aria-label", _("Written tokens. Choose one to see its step."));
  parts.chips = frame.written.tokens.map((token) => chip(written.chips, "button", token));
  if (frame.least) parts.chips[frame.least.step + 1].classList.add("doubtful");
  parts.decoder = stack(scene, "decoder", _("Decoder"), frame.decoderLayers);

  const next = (parts.distribution = element("div", "next", scene));
  element("h3", "", next, frame.title);
  const rows = element("div", `rows${frame.twoNumbers ? " wide-numbers" : ""}`, next);
  const row = (tag, className) => {
    const made = element(tag, `row ${className}`, rows);
    const name = element("span", "name", made), track = element("span", "track", made);
    const bar = element("span", "bar", track), share = frame.twoNumbers ? element("span", "share", track) : null;
    return { row: made, name, bar, share, number: element("span", "number", made), mark: element("span", "mark", made) };
  };
  parts.rows = Array.from({ length: MOST_ROWS }, () => row("button", ""));
  parts.others = row("div", "others");

  const beams = element("div", "beams");
  parts.why = element("div", `why${frame.twoLines ? " two" : ""}`, beams);
  parts.beamsTitle = element("h3", "", beams, frame.beams.title);
  parts.beamRows = element("div", "beam-rows", beams);
  parts.beams = Array.from({ length: frame.beams.rows }, (none, n) => {
    const made = element("div", "beam", parts.beamRows);
    element("span", "rank", made, `${n + 1}`);
    return { beam: made, text: element("span", "text", made), sum: element("span", "sum", made) };
  });
  const picture = element("div", "picture");
  picture.append(scene, beams);
  root.replaceChildren(line, picture);
  return parts;
}
