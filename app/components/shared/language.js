// The language of the interface, in JavaScript: as in Python, texts are English in the code and marked by the function
// names of gettext. Values are given by name: _("Layer {layer}", { layer: 2 }).

// app/components/bundles.py writes here, for each language:
const LANGUAGE = "en";
const TEXTS = {};  // the translations

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));

// The text in the visitor's language, with its values.
export function _(message, values = {}) {
  return filled(TEXTS[message] ?? message, values);
}

// "label: text", with the space before the colon that French has.
export const withLabel = (label, text) => _("{label}: {text}", { label, text });

// The form of the text for this count; the count is also the value {count}. Each of our languages has two forms; in
// French the singular is for 0, too.
export function ngettext(one, many, count, values = {}) {
  const message = new Intl.PluralRules(LANGUAGE).select(count) === "one" ? one : many;
  return filled(TEXTS[message] ?? message, { count, ...values });
}
