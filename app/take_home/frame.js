// Inside the frame of a picture: draws the components of a page, whose scripts are in `window.headlightComponents`.
// There is no server: what a component reports is dropped, and the canvas gets its answers from numbers in the file.

window.headlightDraw = (components, exact, texts) => {
  const place = document.getElementById("pictures");
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const numbers = (base64) => new Float32Array(bytesOf(base64).buffer);

  // The numbers of the one head that the file has: all of its weights, and how each is computed.
  function answer({ asks, kind, layer, head, query, key }) {
    const has = exact && exact.kind === kind && exact.layer === layer && exact.head === head;
    if (asks === "head") return has ? { weights: exact.weights } : {};
    if (asks !== "cell") return {};
    if (!has) return { missing: texts.oneHead };
    const { width, keys } = exact, row = (name, at, size) => Array.from(numbers(exact[name]).subarray(at * size, (at + 1) * size));
    const weights = row("weights", query, keys), value = row("value", key, width), values = numbers(exact.value);
    const length = (vector) => Math.hypot(...vector);
    const context = Array.from({ length: width }, (_, i) => weights.reduce((sum, weight, k) => sum + weight * values[k * width + i], 0));
    return {
      width, weights, value, query: row("query", query, width), keyVector: row("key", key, width),
      product: row("products", query, keys)[key], scores: row("masked_scores", query, keys).map((score) => (Number.isFinite(score) ? score : null)),
      added: length(value.map((number) => weights[key] * number)), context: length(context),
    };
  }

  // The other end of the channel of a canvas, see app/components/canvas_channel.
  function channel(state) {
    const all = (window.headlightCanvases ??= new Map());
    if (!all.has(state.message)) all.set(state.message, {});
    const line = all.get(state.message);
    line.state = state;
    line.send = (question) => setTimeout(() => line.received?.({ ...state, answer: { id: question.id, answer: answer(question) } }));
    line.received?.(state);
  }

  // Called when a component has reported something that the app would answer. If nothing in the component changes
  // within 250 ms, a note tells the reader why.
  const note = document.createElement("p");
  note.className = "needs-app";
  note.setAttribute("role", "status");
  function explain(parent) {
    let changed = false;
    const watcher = new MutationObserver(() => { changed = true; });
    watcher.observe(parent, { subtree: true, childList: true, attributes: true, characterData: true });
    setTimeout(() => {
      watcher.disconnect();
      note.textContent = changed ? "" : texts.needsApp;
    }, 250);
  }

  for (const { name, html, css, data, bytes } of components) {
    if (name === "canvas_channel") { channel(data); continue; }
    const host = document.createElement("div");
    host.className = `drawn ${name}`;
    place.append(host);
    const parent = css === null ? host : host.attachShadow({ mode: "open" });
    parent.append(Object.assign(document.createElement("style"), { textContent: css ?? "" }));
    parent.append(document.createRange().createContextualFragment(html));
    const report = name === "canvas" ? () => {} : () => explain(parent);
    window.headlightComponents[name]({ data: bytes ? bytesOf(bytes) : data, parentElement: parent, name, key: name, setTriggerValue: report, setStateValue: report });
  }
  place.after(note);
};
