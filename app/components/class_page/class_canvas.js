// Draws the lecturer's scene with the canvas of the app, without a Streamlit server. `showOwn` draws the follower's own
// sentence in its place until `back` is called.

import { element } from "../shared/dom.js";
import { get, onDemand } from "./class_server.js";

const FILES = `/class/files/${document.documentElement.lang}`;

const styleSheet = (root) => new Promise((done, failed) => {
  const link = element("link", { rel: "stylesheet", href: `${FILES}/canvas.css` });
  link.onload = done;
  link.onerror = () => { link.remove(); failed(); };
  root.prepend(link);
});

// The id of a message, from its header: see app/figures/canvas_message.py.
function idOf(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))).id;
}

export function newCanvas(parent, code, follower) {
  const place = element("div", "picture", parent), shadow = place.attachShadow({ mode: "open" });
  element("div", "root", shadow);
  const script = onDemand((attempt) => import(`${FILES}/canvas.js?attempt=${attempt}`)), styles = onDemand(() => styleSheet(shadow));
  let scene = null, picture = null, pictureId = null, own = null, model = "", end = () => {};

  async function draw() {
    const bytes = own ?? picture, { shown } = scene ?? {};
    place.hidden = !(bytes && shown);
    if (place.hidden) return;
    const [{ default: mount }] = await Promise.all([script(), styles()]);
    const id = idOf(bytes), canvasState = {
      message: id, chosen: { kind: shown.kind, layer: shown.layer, head: shown.head }, pinned: own ? [-1, -1] : shown.pinned,
      pinsGiven: JSON.stringify(own ? "own" : [shown.kind, shown.pinned]),
      form: shown.form, formName: "class_form", received: Infinity, alone: true, acts: false, alternatives: [], shown: 0, canUndo: false, writes: false, below: 9,
    };
    const all = (window.headlightCanvases ??= new Map());
    all.clear();
    all.set(id, { state: canvasState });
    end();
    end = mount({ data: bytes, parentElement: shadow, setTriggerValue: () => {} });
  }

  return {
    async show(state) {
      if (state.picture !== pictureId) {
        picture = state.picture ? new Uint8Array(await (await get(code, follower, `picture/${state.picture}`)).arrayBuffer()) : null;
        pictureId = state.picture;
      }
      scene = state;
      await draw();
    },
    async showOwn(bytes, ownModel) { [own, model] = [bytes, ownModel]; await draw(); },
    back() { own = null; draw(); },
    isOwn: () => own !== null,
    model: () => model,
    end: () => end(),
  };
}
