// Copies the address of this view with the sentence in it. Where the browser keeps the clipboard closed (plain http from
// another machine), the address appears, selected, to be copied by hand.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  const row = document.createElement("div");
  row.className = "buttons";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy link";
  button.title = "The address of this view, with the sentence in it";
  const note = document.createElement("span");
  note.className = "note";
  note.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const url = new URL(window.location.href);
    url.searchParams.set("sentence", data.sentence);
    try {
      await navigator.clipboard.writeText(url.href);
      note.textContent = "Copied. The link contains your sentence.";
    } catch {
      const field = document.createElement("input");
      field.readOnly = true;
      field.value = url.href;
      field.setAttribute("aria-label", "Link to this view");
      row.replaceChildren(button, field);
      field.select();
    }
  });
  row.append(button, note);
  root.replaceChildren(row);
}
