// How much of the limit is used, counted by the server's tokenizer; visible from half of the limit on. While the user
// types into the input whose label is `watches`, the draft is sent to the server after a pause, and only the count
// comes back.

import { element } from "../shared/dom.js";
import { _ } from "../shared/language.js";

const PAUSE = 250;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const full = data.used > data.limit, used = data.text;
  const meter = element("div", {
    class: full ? "meter full" : data.used < data.limit / 2 ? "meter quiet" : "meter", role: "meter", "aria-label": used,
    "aria-valuemin": 0, "aria-valuemax": data.limit, "aria-valuenow": Math.min(data.used, data.limit),
  });
  element("i", "", element("span", "track", meter)).style.width = `${Math.min(100, (100 * data.used) / data.limit)}%`;
  element("span", "count", meter, full ? _("{used}: too long", { used }) : used);
  root.querySelector(".meter")?.remove();
  root.prepend(meter);
  const status = root.querySelector(".hidden") ?? element("p", { class: "hidden", role: "status" }, root);
  const problem = full ? _("{used}: too long", { used }) : "";
  if (status.textContent !== problem) status.textContent = problem;  // announced

  const forget = () => clearTimeout(root.headlightTimer);  // a draft outlives a new count
  const watched = (event) => event.target instanceof HTMLInputElement && event.target.getAttribute("aria-label") === data.watches;
  const typed = (event) => {
    if (!watched(event)) return;
    forget();
    const { value } = event.target;
    root.headlightTimer = setTimeout(() => setTriggerValue("draft", value), PAUSE);
  };
  const done = (event) => { if (watched(event) && (event.type === "focusout" || event.key === "Enter")) forget(); };
  document.addEventListener("input", typed);
  document.addEventListener("keydown", done);
  document.addEventListener("focusout", done);
  return () => {
    if (!root.isConnected) forget();
    document.removeEventListener("input", typed);
    document.removeEventListener("keydown", done);
    document.removeEventListener("focusout", done);
  };
}
