// How much of the limit is used, counted by the server's tokenizer; seen from half of the limit on. While the user types into the watched input, the
// draft goes to the server after a pause, and only the count comes back.

const PAUSE = 250;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const full = data.used > data.limit;
  const meter = document.createElement("div");
  meter.className = full ? "meter full" : data.used < data.limit / 2 ? "meter quiet" : "meter";
  meter.setAttribute("role", "meter");
  meter.setAttribute("aria-valuemin", "0");
  meter.setAttribute("aria-valuemax", String(data.limit));
  meter.setAttribute("aria-valuenow", String(Math.min(data.used, data.limit)));
  meter.setAttribute("aria-label", `${data.used} of ${data.limit} ${data.unit}`);
  const track = document.createElement("span"), bar = document.createElement("i"), count = document.createElement("span");
  track.className = "track";
  bar.style.width = `${Math.min(100, (100 * data.used) / data.limit)}%`;
  track.appendChild(bar);
  count.className = "count";
  count.textContent = full ? `${data.used} of ${data.limit} ${data.unit}: too long` : `${data.used} of ${data.limit} ${data.unit}`;
  meter.append(track, count);
  root.replaceChildren(meter);

  let timer = null;
  const watched = (event) => event.target instanceof HTMLInputElement && event.target.getAttribute("aria-label") === data.watches;
  const typed = (event) => {
    if (!watched(event)) return;
    clearTimeout(timer);
    const value = event.target.value;
    timer = setTimeout(() => setTriggerValue("draft", value), PAUSE);
  };
  const done = (event) => { if (watched(event) && (event.type === "focusout" || event.key === "Enter")) clearTimeout(timer); };
  document.addEventListener("input", typed);
  document.addEventListener("keydown", done);
  document.addEventListener("focusout", done);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("input", typed);
    document.removeEventListener("keydown", done);
    document.removeEventListener("focusout", done);
  };
}
