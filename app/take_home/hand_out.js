// Draws the pictures of the scenes, each in a frame of its own, from the packed data in this file.

(async () => {
  const root = document.documentElement, scheme = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.scheme ? root.dataset.scheme === "dark" : scheme.matches);
  const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent.trim()), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { scripts, styles, data, pictures, frame, font } = JSON.parse(await new Response(unpacked).text());

  // The font of the app, in this page and in each frame.
  const letters = font && Uint8Array.from(atob(font), (letter) => letter.charCodeAt(0)).buffer;
  const addFont = (view) => { if (letters) view.document.fonts.add(new view.FontFace("Source Sans", letters, { weight: "200 900" })); };
  addFont(window);

  function draw(figure) {
    const { components, exact, texts } = pictures[figure.dataset.picture];
    figure.replaceChildren();
    const inside = document.createElement("iframe");
    inside.title = figure.getAttribute("aria-label");
    inside.srcdoc = `<!doctype html><html lang="${root.lang}"><meta charset="utf-8"><body><div id="pictures"></div></body></html>`;
    inside.addEventListener("load", () => {
      const page = inside.contentDocument, add = (tag, text) => page.head.append(Object.assign(page.createElement(tag), { textContent: text }));
      page.documentElement.dataset.scheme = page.documentElement.style.colorScheme = isDark() ? "dark" : "light";
      add("style", frame.css);
      addFont(inside.contentWindow);
      for (const name of new Set(components.map((each) => each.name))) if (scripts[name]) add("script", scripts[name]);
      add("script", frame.script);
      inside.contentWindow.headlightDraw(components.map(({ name, at }) => ({ name, ...styles[name], ...data[at] })), exact, texts);
      grow(inside);
    });
    figure.append(inside);
  }

  // On paper the content of a frame is not laid out again, so the frame keeps its width and is scaled down as a whole.
  const PAPER = 1010;  // px, see @page in hand_out.css
  function measure(inside) {
    const { clientWidth: wide, clientHeight: high } = inside;
    if (matchMedia("print").matches || !wide) return;
    for (const [name, value] of [["wide", `${wide}px`], ["high", `${high}px`], ["scale", Math.min(1, PAPER / wide)]]) inside.parentElement.style.setProperty(`--${name}`, value);
  }

  // Makes the frame as high as its content. It never becomes lower, because some pictures are as high as their window.
  function grow(inside) {
    const page = inside.contentDocument, fit = () => {
      const missing = page.documentElement.scrollHeight - inside.clientHeight;
      if (missing > 1 && inside.clientHeight < 2400) inside.style.height = `${inside.clientHeight + missing}px`;
    };
    new inside.contentWindow.ResizeObserver(fit).observe(page.body);
    new ResizeObserver(() => measure(inside)).observe(inside);
    fit();
  }

  const figures = [...document.querySelectorAll("figure[data-picture]")], waiting = new Set(figures);
  const drawNow = (figure) => { if (waiting.delete(figure)) draw(figure); };
  const near = new IntersectionObserver((seen) => seen.forEach(({ isIntersecting, target }) => { if (isIntersecting) drawNow(target); }), { rootMargin: "600px" });
  figures.forEach((figure) => near.observe(figure));
  const next = () => { const [figure] = waiting; if (figure) { drawNow(figure); setTimeout(next, 60); } };
  setTimeout(next, 300);  // draws all of them, for readers who print
  addEventListener("beforeprint", () => { figures.forEach(drawNow); });

  const again = () => figures.forEach((figure) => { if (!waiting.has(figure)) draw(figure); });
  const choose = document.getElementById("scheme"), show = () => { choose.textContent = isDark() ? choose.dataset.light : choose.dataset.dark; };
  choose.hidden = false;
  choose.addEventListener("click", () => { root.dataset.scheme = isDark() ? "light" : "dark"; show(); again(); });
  scheme.addEventListener("change", () => { if (!root.dataset.scheme) { show(); again(); } });
  show();
})();
