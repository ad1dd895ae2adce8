// A button that copies a text. Where the browser keeps the clipboard closed (plain http from another machine), the text
// appears, selected, to be copied by hand.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const row = document.createElement("div");
  row.className = "buttons";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = data.label;
  button.title = data.help;
  const note = document.createElement("span");
  note.className = "note";
  note.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(data.text);
      note.textContent = "Copied.";
    } catch {
      const field = document.createElement("textarea");
      field.readOnly = true;
      field.rows = 4;
      field.value = data.text;
      field.setAttribute("aria-label", data.help);
      row.replaceChildren(button, field);
      field.select();
    }
  });
  row.append(button, note);
  root.replaceChildren(row);
}
