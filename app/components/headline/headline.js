// A translation that is too long for a headline: its first two lines, and a button for the rest.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const state = (parentElement.headlight ??= { open: false });
  const text = document.createElement("p"), button = document.createElement("button");
  text.className = "long";
  text.textContent = data.text;
  text.setAttribute("lang", data.lang);
  text.setAttribute("dir", "auto");
  button.type = "button";
  button.className = "folding";
  const fold = () => {
    text.classList.toggle("folded", !state.open);
    button.textContent = state.open ? "Fold" : "Whole translation";
    button.setAttribute("aria-expanded", String(state.open));
  };
  button.addEventListener("click", () => { state.open = !state.open; fold(); });
  fold();
  root.replaceChildren(text, button);
}
