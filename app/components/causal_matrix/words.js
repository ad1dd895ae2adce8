// The picture in words: the score of the pass, or what the colours of the scores mean; the attention on later tokens;
// and the cell that is pointed at.

import { _ } from "../shared/language.js";
import { decimal, fixed, percent } from "../shared/numbers.js";
import { quoted } from "../shared/token.js";

const result = ({ right, score }) => ({ right: right.filter(Boolean).length, all: right.length, score: fixed(score, 2) });

// What the mask sets to −∞ is read from the mask of the pass, because an edit may have changed it.
function scoresSentence({ passes: [{ mask }], data: { reads, window } }) {
  const masks = (isMeant) => mask.some((may, at) => !may && isMeant(Math.floor(at / reads.length), at % reads.length));
  if (!masks(() => true)) return _("Scores before the mask: green is above 0, brown below. Here the mask sets none of them to −∞.");
  if (masks((query, key) => query - key > window)) return _("Scores before the mask: green is above 0, brown below. The mask sets those right of the line and those outside the attention window to −∞.");
  if (masks((query, key) => key <= query)) return _("Scores before the mask: green is above 0, brown below. The mask sets those right of the line to −∞, and an edit those that it forbids.");
  return _("Scores before the mask: green is above 0, brown below. The mask sets those right of the line to −∞.");
}

export function score({ free, shownScores, passes: [masked, open], ...state }) {
  if (shownScores) return scoresSentence({ passes: [masked], ...state });
  const before = result(masked);
  if (!free) return _("With the mask: {right} of {all} tokens ranked first, log-probability {score}.", before);
  const values = { ...result(open), rightBefore: before.right, scoreBefore: before.score };
  return _("Without the mask: {right} of {all} tokens ranked first, log-probability {score} (with it: {rightBefore} of {all}, {scoreBefore}).", values);
}

// Whether the second pass may attend to anything that the first may not.
export const leaks = ({ passes: [masked, open] }) => open.mask.some((may, at) => may && !masked.mask[at]);

// The share of the head's attention that is on later tokens; shorter beside the switch.
export function shareOnLaterTokens({ passes: [, open], data }) {
  const size = data.reads.length;
  let sum = 0;
  for (let q = 0; q < size; q++) for (let k = q + 1; k < size; k++) sum += open.weights[q * size + k];
  const share = percent(sum / size, 1, 0);
  return data.given === undefined ? _("{share} on later tokens", { share }) : _("{share} of its attention is on later tokens", { share });
}

export function cellSentence({ free, shownScores: scores, query, key, passes, data }) {
  const at = query * data.reads.length + key, { mask, weights } = passes[Number(free)];
  const row = _("Row {row} reads {read} to write {written}", { row: query + 1, read: quoted(data.reads[query]), written: quoted(data.predicts[query]) });
  const token = key === query ? _("itself") : quoted(data.reads[key]), weight = decimal(weights[at], 3), isAnswer = key === query + 1;
  if (scores && mask[at]) return _("{row}; score {score} of {token}, weight {weight}.", { row, score: fixed(scores[at], 3), token, weight });
  if (scores) return _("{row}; score {score} of {token}; the mask sets it to −∞, so its weight is 0.", { row, score: fixed(scores[at], 3), token });
  if (!mask[at]) {
    const values = { row, token: quoted(data.reads[key]) };
    const isCausal = !mask.some((may, i) => may && i % data.reads.length > Math.floor(i / data.reads.length));
    if (Math.abs(query - key) > data.window && (key <= query || !isCausal)) return _("{row}; it cannot attend to {token}, outside its attention window.", values);
    if (key <= query || passes[0].mask[at] || !isCausal) return _("{row}; it cannot attend to {token}, because of an edit.", values);
    return isAnswer ? _("{row}; it cannot attend to {token}, the answer.", values) : _("{row}; it cannot attend to {token}, which is not written yet.", values);
  }
  if (key <= query) return _("{row}; weight {weight} on {token}.", { row, weight, token });
  return isAnswer
    ? _("{row}; weight {weight} on {token}, the answer. When the model writes, this token does not exist yet.", { row, weight, token })
    : _("{row}; weight {weight} on {token}. When the model writes, this token does not exist yet.", { row, weight, token });
}
