// A page with one picture, light or dark as the reader's system is.

{
  const { components, exact, texts } = JSON.parse(document.getElementById("picture").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const color = () => { root.dataset.scheme = root.style.colorScheme = dark.matches ? "dark" : "light"; };
  color();
  dark.addEventListener("change", color);
  window.headlightDraw(components, exact, texts);
}
