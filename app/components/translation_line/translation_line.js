// The tokens of a translation in one line, which scrolls if it is too long. A bar below each token is its probability.

import { watchSize } from "../shared/watch_size.js";

function button(number, text, pressed, choose) {
  const node = document.createElement("button");
  node.type = "button";
  node.textContent = String(number);
  node.title = text;
  node.setAttribute("aria-label", `Sentence ${number}: ${text}`);
  node.setAttribute("aria-pressed", String(pressed));
  node.addEventListener("click", choose);
  return node;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const line = document.createElement("div");
  line.className = "line";
  if (data.sentences.length > 1) {
    const group = document.createElement("div");
    group.className = "sentences";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Sentence that is shown");
    group.append(...data.sentences.map((text, i) => button(i + 1, text, i === data.shown, () => setTriggerValue("chosen", i))));
    line.append(group);
  }
  if (data.mark.words) {
    const mark = document.createElement("span");
    mark.className = "mark";
    mark.textContent = data.mark.words;
    mark.title = data.mark.help;
    line.append(mark);
  }
  const tokens = document.createElement("div");
  tokens.className = "tokens picture";
  tokens.lang = data.lang;
  tokens.dir = "auto";
  tokens.setAttribute("role", "img");
  tokens.setAttribute("aria-label", `Translation: ${data.text}`);
  tokens.style.setProperty("--role", data.color);
  for (const { text, probability } of data.tokens) {
    const token = document.createElement("span");
    token.textContent = text.replace(/^▁/, "") || text;
    token.title = `${text}: ${(100 * probability).toFixed(1)} %`;
    token.style.setProperty("--share", `${100 * probability}%`);
    tokens.append(token);
  }
  tokens.addEventListener("keydown", (event) => {  // arrow keys scroll it, and do not walk through the picture meanwhile
    if (event.key.startsWith("Arrow")) event.stopPropagation();
  });
  line.append(tokens);
  root.replaceChildren(line);
  const fit = () => {
    const scrolls = tokens.scrollWidth > tokens.clientWidth + 1;
    tokens.classList.toggle("scrolls", scrolls);
    if (scrolls) tokens.tabIndex = 0;
    else tokens.removeAttribute("tabindex");
  };
  const watcher = watchSize(tokens, fit);  // what is beside it takes room, or another window does
  return () => watcher.disconnect();
}
