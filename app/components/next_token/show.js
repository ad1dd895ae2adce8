// What changes from step to step. Only texts, classes and lengths of bars change: no part gets another place or size.

import { FEWEST_ROWS, MOST_ROWS } from "./frame.js";
import { element } from "../shared/dom.js";
import { _ } from "../shared/language.js";
import { decimal } from "../shared/numbers.js";

const scaled = (node, share) => { node.style.transform = `scaleX(${share})`; };

// The most probable tokens of a step. If the chosen token is not among them, it gets the last row.
function shownRows(step, count) {
  const rows = step.rows.slice(0, count);
  const chosen = step.rows.find((row) => row.chosen);
  if (chosen && !rows.includes(chosen)) rows[count - 1] = chosen;
  return rows;
}

function showDistribution(parts, step) {
  const count = parts.root.classList.contains("narrow") ? FEWEST_ROWS : MOST_ROWS;
  const rows = shownRows(step, count);
  parts.rows.forEach((place, n) => {
    const row = rows[n];
    place.row.style.display = n < count ? "" : "none";
    place.row.style.visibility = row ? "" : "hidden";
    place.id = row?.id;
    place.row.disabled = Boolean(row?.never);
    place.chosen = Boolean(row?.chosen);
    if (!row) return;
    place.row.classList.toggle("chosen", Boolean(row.chosen));
    place.row.classList.toggle("cut", Boolean(row.cut));
    place.row.title = row.title;
    place.row.setAttribute("aria-label", row.title);
    place.name.textContent = row.text;
    scaled(place.bar, row.p);
    if (place.share) scaled(place.share, row.share);
    place.number.textContent = row.number;
    place.mark.textContent = row.mark;
  });
  const rest = step.rest[count];
  parts.others.name.textContent = rest.text;
  parts.others.number.textContent = rest.number;
  scaled(parts.others.bar, rest.p);
  if (parts.others.share) scaled(parts.others.share, rest.share);
}

// Scrolls `box` until `node` is in view; the page itself does not scroll.
function keepInView(box, node) {
  const top = node.offsetTop - box.offsetTop, left = node.offsetLeft - box.offsetLeft;
  if (top < box.scrollTop || top + node.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - (box.clientHeight - node.offsetHeight) / 2;
  if (left < box.scrollLeft || left + node.offsetWidth > box.scrollLeft + box.clientWidth) box.scrollLeft = left - 40;
}

function showSource(parts, weights) {
  const { tokens, head } = parts.frame.source;
  parts.weights.forEach(({ chip, bar }, n) => {
    scaled(bar, weights[n]);
    chip.title = _("{token}: attention weight {weight}, {head}", { token: tokens[n], weight: decimal(weights[n], 4), head });
    chip.setAttribute("aria-label", chip.title);
  });
  keepInView(parts.sourceChips, parts.weights[weights.indexOf(Math.max(...weights))].chip);
}

function showWritten(parts, at) {
  const { least, written: { tokens } } = parts.frame, last = parts.frame.steps.length - 1;
  parts.chips.forEach((chip, n) => {
    const state = n < at ? "" : n === at ? "newest" : n === at + 1 ? "slot" : "later";
    chip.classList.remove("newest", "slot", "later");
    if (state) chip.classList.add(state);
    const place = n === 0 ? _("the start") : _("token {n} of {count}", { n, count: last + 1 });
    const label = n <= at ? `${tokens[n]}, ${place}` : _("{place}, not written yet", { place });
    chip.setAttribute("aria-label", n - 1 === least?.step ? `${label}, ${least.words}` : label);
    chip.title = n <= at ? tokens[n] : "";
    chip.setAttribute("aria-current", n === at + 1 ? "step" : "false");
  });
  keepInView(parts.writtenChips, parts.chips[at + 1]);
}

function showBeams(parts, at) {
  const { nodes, alive, end, title } = parts.frame.beams;
  // At the end, the hypotheses that finished earlier are shown, too.
  const atEnd = at === parts.frame.steps.length - 1 && end.rows.length > 0;
  const ids = atEnd ? end.rows.map(({ node }) => node) : alive[at] ?? [];
  parts.beamsTitle.textContent = atEnd ? end.title : title;
  parts.beams.forEach((place, n) => {
    const node = nodes[ids[n]];
    place.beam.style.visibility = node ? "" : "hidden";
    if (!node) return;
    const path = [];
    for (let up = node; up; up = nodes[up.parent]) path.unshift(up);
    place.beam.className = `beam${node.best ? " best" : ""}${node.ended ? " ended" : ""}`;
    place.beam.title = node.title;
    place.text.replaceChildren();
    path.slice(1).forEach((each, i) => {
      const text = each.text.replaceAll("▁", " ");
      element("span", i === path.length - 2 ? "new" : "", place.text, i ? text : text.trimStart());
    });
    place.sum.textContent = atEnd ? end.rows[n].number : node.sum;
  });
  // A hypothesis that fits is aligned to the left; of a longer hypothesis, the end is visible.
  parts.beams.forEach(({ text }) => {
    const width = [...text.children].reduce((sum, span) => sum + span.offsetWidth, 0);
    text.classList.toggle("fits", width <= text.clientWidth - 14);
  });
}

export function show(parts, at) {
  const step = parts.frame.steps[at], last = parts.frame.steps.length - 1;
  parts.shown = at;
  parts.root.dataset.step = at + 1;
  parts.at.textContent = _("Step {step} of {count}", { step: at + 1, count: last + 1 });
  parts.says.textContent = step.says;
  parts.player.showPlace(at === 0, at === last);
  showSource(parts, step.weights);
  showWritten(parts, at);
  showDistribution(parts, step);
  parts.why.textContent = step.why;
  showBeams(parts, at);
}
