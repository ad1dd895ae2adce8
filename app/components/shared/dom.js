// Elements of HTML. A text is always a text, never markup.

// Makes an element in `parent`, if one is given. `attributes`: its class or "", or several attributes by name.
export function element(tag, attributes, parent, text) {
  const node = document.createElement(tag);
  const given = typeof attributes === "string" ? (attributes && { class: attributes }) : attributes;
  for (const [name, value] of Object.entries(given)) node.setAttribute(name, value);
  if (tag === "button") node.type = "button";
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
}

export function button(attributes, parent, text, act) {
  const node = element("button", attributes, parent, text);
  node.addEventListener("click", act);
  return node;
}

// Disables a button, which keeps the focus if it has it: its function has to ignore clicks.
export const setDisabled = (node, isDisabled) => node.setAttribute("aria-disabled", String(isDisabled));

// The element inside `root` that has the focus, or null.
export const focusedIn = (root) => {
  const node = root.getRootNode().activeElement;
  return node && root.contains(node) ? node : null;
};

// The key is handled here: the page does not scroll, and no other handler gets the event.
export function handled(event) {
  event.preventDefault();
  event.stopPropagation();
}

// Sets the colours --name, for style sheets.
export function setColors(root, colors) {
  for (const [name, color] of Object.entries(colors)) root.style.setProperty(`--${name}`, color);
}

export const within = (value, least, most) => Math.min(Math.max(value, least), most);

// Whether the reader wants no motion.
export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
