// Copies the address of this view with the sentence in it.

import { copyButton } from "../shared/copy.js";
import { _ } from "../shared/language.js";

export default function ({ data, parentElement }) {
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(window.location.hostname);
  const text = () => {
    const url = new URL(window.location.href);
    if (isLocal && data.host) url.hostname = data.host;
    for (const [name, value] of Object.entries(data.texts)) url.searchParams.set(name, value);
    return url.href;
  };
  const help = _("Link to this view, with the sentence in it");
  copyButton(parentElement.querySelector(".root"), { label: _("Copy link"), help, field: "input", text });
}
