// A button that copies a text. Where the browser keeps the clipboard closed (plain http from another machine), the text
// appears, selected, to be copied by hand: in an <input>, or in a <textarea> if it has several lines.

export function copyButton(root, { label, help, done, field: kind, text }) {
  const row = document.createElement("div");
  row.className = "buttons";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.title = help;
  const note = document.createElement("span");
  note.className = "note";
  note.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const copied = text();
    try {
      await navigator.clipboard.writeText(copied);
      note.textContent = done;
    } catch {
      const field = document.createElement(kind);
      field.readOnly = true;
      if (kind === "textarea") field.rows = 4;
      field.value = copied;
      field.setAttribute("aria-label", help);
      row.replaceChildren(button, field);
      field.select();
    }
  });
  row.append(button, note);
  root.replaceChildren(row);
}
