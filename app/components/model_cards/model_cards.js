// The checkpoints as cards: languages and name, size, the one score and how it was measured. A click opens a checkpoint.

const add = (name, className, parent, text) => {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const focused = [...root.querySelectorAll("button")].indexOf(parentElement.activeElement);
  const scrolled = root.querySelector(".cards")?.scrollTop ?? 0;
  const list = add("div", "cards picture");
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", data.label);
  for (const card of data.cards) {
    const button = add("button", "", list);
    button.type = "button";
    button.setAttribute("aria-pressed", String(card.open));
    const title = add("span", "title", button, card.title);
    add("i", "", title, card.open ? `${card.name}, is open` : card.name);
    add("span", "score", button, card.score);
    add("span", "size", button, card.size);
    const bar = add("span", "bar", button);
    if (card.score) add("i", "", bar).style.width = `${card.share}%`;
    else bar.style.visibility = "hidden";
    add("span", "measured", button, card.measured);
    button.addEventListener("click", () => { if (!card.open) setTriggerValue("opened", card.name); });
  }
  root.replaceChildren(list);
  list.scrollTop = scrolled;
  if (focused >= 0) list.children[Math.min(focused, list.children.length - 1)]?.focus({ preventScroll: true });
}
