// How Plotly writes numbers in the visitor's language, on axes and in hover texts.

import { SIGNS } from "../shared/numbers.js";

const NAME = "visitor";
const [point, thousands, percentSign] = [SIGNS["."], SIGNS[","], SIGNS["%"]];

// Trap: a Plotly locale has no per cent sign, but "$" in a format writes the locale's currency sign. With " %" as
// currency, "$.1%" (from localPercent) is 98,3 % in German (test_a_chart_writes_shares_and_decimals_in_german).
const format = { decimal: point, thousands, grouping: [3], currency: ["", percentSign] };
export const numberFormat = point ? { locale: NAME, locales: { [NAME]: { format } } } : {};

const localPercent = (form) => (/^[^$]*%$/.test(form) ? `$${form}` : form);

// The figure with formats that have the per cent sign of the language.
export function withLocalPercent({ data, layout }) {
  if (!percentSign) return { data, layout };
  const traces = data.map((trace) => (trace.hovertemplate
    ? { ...trace, hovertemplate: trace.hovertemplate.replace(/:([^{}]*%)\}/g, (whole, form) => `:${localPercent(form)}}`) }
    : trace));
  const parts = Object.entries(layout).map(([name, part]) => [name, part?.tickformat ? { ...part, tickformat: localPercent(part.tickformat) } : part]);
  return { data: traces, layout: Object.fromEntries(parts) };
}
