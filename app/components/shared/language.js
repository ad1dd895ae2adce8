// The language of the interface, in JavaScript: as in Python, texts are English in the code and marked by the names of
// gettext. Values are given by name: _("Layer {layer}", { layer: 2 }).

const TEXTS = {};  // app/components/registration.py writes the translations here, for each language

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));

// The text in the visitor's language, with its values.
export function _(message, values = {}) {
  return filled(TEXTS[message] ?? message, values);
}

// The form of the text for this count, which is its value {count}. English and German have the same two forms.
export function ngettext(one, many, count, values = {}) {
  const message = count === 1 ? one : many;
  return filled(TEXTS[message] ?? message, { count, ...values });
}
