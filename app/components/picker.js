// A row of tokens of which one is chosen: click, or Tab into it and use the arrow keys, Home and End. A long row takes
// three lines and scrolls; the chosen token is in view.

const LONG = 40;  // tokens

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  root.style.setProperty("--role", data.color);
  const row = document.createElement("div");
  row.className = "picker";
  row.setAttribute("role", "radiogroup");
  row.setAttribute("aria-label", data.label);
  const label = document.createElement("span");
  label.className = "picker-label";
  label.textContent = data.label;
  const long = data.tokens.length > LONG;
  if (!long) row.appendChild(label);
  const buttons = data.tokens.map((token, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(index === data.chosen));
    button.setAttribute("aria-label", `${index + 1}: ${token}${data.second ? ` → ${data.second[index]}` : ""}`);
    button.tabIndex = index === data.chosen ? 0 : -1;
    for (const [className, text] of [["text", token], ["second", data.second?.[index]]]) {
      if (text === undefined) continue;
      const span = document.createElement("span");
      span.className = className;
      span.textContent = className === "second" ? `→ ${text}` : text;
      button.appendChild(span);
    }
    button.addEventListener("click", () => { if (index !== data.chosen) setTriggerValue("chosen", index); });
    row.appendChild(button);
    return button;
  });
  row.addEventListener("keydown", (event) => {
    const last = data.tokens.length - 1;
    const goal = { ArrowRight: data.chosen + 1, ArrowDown: data.chosen + 1, ArrowLeft: data.chosen - 1, ArrowUp: data.chosen - 1, Home: 0, End: last }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (goal >= 0 && goal <= last) setTriggerValue("chosen", goal);
  });
  const focused = row.ownerDocument && root.contains(parentElement.activeElement ?? root.getRootNode().activeElement);
  row.classList.toggle("long-row", long);
  root.replaceChildren(...(long ? [label, row] : [row]));
  const chosen = buttons[data.chosen];
  if (chosen) row.scrollTop = chosen.offsetTop - row.offsetTop - (row.clientHeight - chosen.offsetHeight) / 2;
  if (focused) chosen?.focus({ preventScroll: true });
}
