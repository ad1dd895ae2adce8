// A list of rows of which one is chosen.

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const list = document.createElement("div");
  list.className = "choices";
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", data.label);
  let now = data.chosen;  // or what has been clicked since; where none is (-1), each click is told
  data.rows.forEach((row, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(index === data.chosen));
    const add = (parent, className, text) => {
      const span = document.createElement("span");
      span.className = className;
      span.textContent = text;
      parent.appendChild(span);
      return span;
    };
    add(button, "number", `${index + 1}`);
    const text = add(button, "text", row.text);
    text.dir = "auto";
    if (row.second) add(text, "second", row.second);
    add(button, "detail", row.detail ?? "");
    button.addEventListener("click", () => { if (index === now) return;
      setTriggerValue("chosen", index);
      if (data.chosen >= 0) now = index;
    });
    list.appendChild(button);
  });
  const focused = [...root.querySelectorAll("button")].indexOf(parentElement.activeElement);
  root.replaceChildren(list);
  if (focused >= 0) list.children[Math.min(focused, list.children.length - 1)]?.focus();
}
