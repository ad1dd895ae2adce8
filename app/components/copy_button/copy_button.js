// A button that copies a text of several lines.

import { copyButton } from "../shared/copy.js";

export default function ({ data, parentElement }) {
  const { text, label, help } = data;
  const root = parentElement.querySelector(".root");
  copyButton(root, { label, help, field: "textarea", text: () => text });
}
