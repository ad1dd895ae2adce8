// Two texts word by word. What changed, is missing or was added carries its name below it, so colour is not needed.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const add = (parent, name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };
  root.replaceChildren();
  const line = add(root, "p", "difference");
  line.setAttribute("aria-label", data.label);
  line.setAttribute("dir", "auto");
  for (const { change, old, new: fresh, mark } of data.stretches) {
    const stretch = add(line, "span", `stretch ${change}`);
    const words = add(stretch, "span", "words");
    if (change === "equal") words.textContent = fresh;
    if (change === "changed" || change === "missing") add(words, "del", "", old);
    if (change === "changed") add(words, "span", "arrow", " → ");
    if (change === "changed" || change === "added") add(words, "ins", "", fresh);
    add(stretch, "span", "mark", mark);
  }
  add(root, "p", "note", data.summary);
}
