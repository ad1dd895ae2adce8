// The canvas of the app, without its server: it draws what the lecturer shows. A sentence of one's own stays when the
// lecturer goes on, as long as the scene has the same model.

import { element } from "../shared/dom.js";
import { get } from "./class_server.js";

const FILES = `/class/files/${document.documentElement.lang}`, SCRIPT = `${FILES}/canvas.js`, STYLES = `${FILES}/canvas.css`;

// The name of a message, from its header: see app/figures/canvas_message.py.
function idOf(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))).id;
}

export function newCanvas(parent, code, follower) {
  const place = element("div", "picture", parent), shadow = place.attachShadow({ mode: "open" });
  const sheet = element("link", { rel: "stylesheet", href: STYLES }), styled = new Promise((done) => { sheet.onload = done; });
  shadow.append(sheet);
  element("div", "root", shadow);
  const script = import(SCRIPT);
  let scene = null, picture = null, own = null, model = "", end = () => {};

  async function draw() {
    const bytes = own ?? picture, { shown } = scene ?? {};
    place.hidden = !(bytes && shown);
    if (place.hidden) return;
    const [{ default: mount }] = await Promise.all([script, styled]);
    const id = idOf(bytes), standing = {
      message: id, chosen: { kind: shown.kind, layer: shown.layer, head: shown.head }, pinned: own ? [-1, -1] : shown.pinned,
      form: shown.form, formName: "class_form", received: Infinity, alone: true, acts: false, alternatives: [], shown: 0, canUndo: false, writes: false, below: 9,
    };
    const all = (window.headlightCanvases ??= new Map());
    all.clear();
    all.set(id, { standing });
    end();
    end = mount({ data: bytes, parentElement: shadow, setTriggerValue: () => {} });
  }

  return {
    async show(state) {
      const before = scene?.picture;
      scene = state;
      if (state.picture !== before) picture = state.picture ? new Uint8Array(await (await get(code, follower, `picture/${state.picture}`)).arrayBuffer()) : null;
      await draw();
    },
    async showOwn(bytes, its) { [own, model] = [bytes, its]; await draw(); },
    back() { own = null; draw(); },
    isOwn: () => own !== null,
    model: () => model,
    end: () => end(),
  };
}
