// The queries as one row of buttons, which scrolls sideways so that the chosen query is in view. A query of the decoder
// is shown by the token that it predicts. A click or an arrow key chooses another query.

import { element } from "./dom.js";
import { _, withLabel } from "./language.js";
import { centred, radios } from "./radios.js";

export function wordsOf(message, chosen, choose) {
  const row = element("div", "words sideways"), names = message.queries.map((reads, i) => (node) => {
    const predicts = message.predicts[i];
    node.title = predicts === undefined ? withLabel(i + 1, reads) : _("{number}: reads {reads}, writes {predicts}", { number: i + 1, reads, predicts });
    node.setAttribute("aria-label", node.title);
    node.textContent = predicts ?? reads;
  });
  const { buttons } = radios(row, _("Query: {title}", { title: message.query_title }), names, chosen, (i) => {
    centred(row, buttons[i]);
    choose(i);
  });
  return { row, show: () => centred(row, buttons[chosen]) };
}
