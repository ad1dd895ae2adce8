// The numbers in texts. The message has each weight only as a byte (in 255ths). A text shows the tensor's own number,
// requested for a whole head at a time; until it arrives, a number is written only if the byte determines it.

import { numbersIn } from "../shared/arrays.js";
import { localised, percent } from "../shared/numbers.js";
import { isRunning } from "../shared/script_state.js";

export const DECIMALS = 3;  // of a weight near 100%, if there is room: a reader may want to check the weight

function certain(byte) {
  if (byte === 255) return localised(">99%");  // rounded: it may be 1 or a little less
  const least = percent(Math.max(0, byte - 0.5) / 255), most = percent(Math.min(255, byte + 0.5) / 255);
  return byte > 0 && least === most ? least : "";
}

// The name of a head of the sentence that is shown. Trap: without the message's id in this name, a late answer about
// the sentence before would be taken for an answer about this one
// (test_an_answer_about_the_sentence_before_is_not_taken).
const nameOf = (view, { kind, layer, head }) => `${view.message.id}.${kind}.${layer}.${head}`;

// The exact weights of a head, (Q, K), if they are here.
export const exactOf = (view, kind, layer, head) => view.answers.get(`head.${nameOf(view, { kind, layer, head })}`)?.weights;

// The weight of a cell as text: the exact weight, or what the byte determines, or "". Near 100% it has at most `most`
// decimals.
export function weightText(view, { kind, layer, head }, query, key, most = 1) {
  const found = view.message.kind[kind], exact = exactOf(view, kind, layer, head);
  const at = query * found.keys + key;
  return exact ? percent(exact[at], most) : certain(found.weights[(layer * found.heads + head) * found.queries * found.keys + at]);
}

// Questions are sent one at a time, the newest first: after hovering over many heads, the last head is asked for first.
// `view.questions`: those that are not sent yet. `view.asked`: the one that was sent and is not answered yet.
export function ask(view, question) {
  const { asks, kind, layer, head, query = 0, key = 0 } = question;
  const name = `${asks}.${nameOf(view, question)}` + (asks === "head" ? "" : `.${query}.${key}`);
  if (view.answers.has(name)) return view.answers.get(name);
  view.questions = [{ id: name, asks, kind, layer, head, query, key, message: view.message.id }, ...view.questions.filter((one) => one.id !== name)].slice(0, 4);
  sendNext(view);
  return undefined;
}

const ASK_AGAIN_AFTER = 4000;  // ms until an unanswered question is asked again: the question or its answer may get lost
const MOST_TIMES = 6;  // times that a question is asked

// Trap: Streamlit may merge a question that arrives while another page is being opened with the request for that page,
// and the page is then never drawn (test_numbers_are_exact_and_a_click_on_a_number_opens_its_calculation).
export function sendNext(view) {
  const send = view.line?.send;
  if (!send || view.asked || !(view.unsentPins || view.questions.length) || !view.root.isConnected) return;
  if (isRunning()) {
    clearTimeout(view.later);
    view.later = setTimeout(() => sendNext(view), 50);
    return;
  }
  view.asked = view.unsentPins ?? view.questions.shift();
  view.unsentPins = null;
  clearTimeout(view.late);
  view.late = setTimeout(() => askAgain(view), ASK_AGAIN_AFTER);
  send(view.asked);
}

function askAgain(view) {
  const lost = view.asked && { ...view.asked, times: (view.asked.times ?? 1) + 1 };
  view.asked = null;
  if (lost && lost.times <= MOST_TIMES && !view.isActing) {
    if (lost.asks === "kept") view.unsentPins ??= lost; else view.questions.push(lost);
  }
  sendNext(view);
}

// Takes an answer, if it is awaited, or new and about the sentence that is shown. Returns whether it was taken. Trap:
// on a busy server an answer may come when its question is no longer awaited (test_an_answer_that_comes_late_is_taken).
export function receiveAnswer(view, received) {
  if (!received?.answer) return false;
  const { id, answer } = received, isAwaited = id === view.asked?.id, isNumbers = id.split(".")[1] === view.message.id;
  if (!isAwaited && (!isNumbers || view.answers.has(id))) return false;
  if (isNumbers) view.answers.set(id, { ...answer, weights: typeof answer.weights === "string" ? numbersIn(answer.weights) : answer.weights });
  view.questions = view.questions.filter((question) => question.id !== id);
  if (!isAwaited) return true;
  view.asked = null;
  clearTimeout(view.late);
  sendNext(view);
  return true;
}
