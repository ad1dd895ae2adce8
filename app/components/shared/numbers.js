// How numbers are written, as app/figures/theme.py writes them, in the visitor's language: −1,30 and 3,1 % in German.

export const SIGNS = {};  // app/components/registration.py writes here what the language has instead of ".", "," and "%"

// A number that is written in the English way, in the visitor's language: nothing but the number, never a sentence.
export const localised = (number) => number.replace(/[.,%]/g, (sign) => SIGNS[sign] ?? sign);

// So many digits after the point: 0.42, and -0.00 where a number is so small.
export const decimals = (value, digits) => localised(value.toFixed(digits));

// A count: 12,345.
export const grouped = (count) => localised(count.toLocaleString("en"));

// So many digits after the point: 0.42, −1.30, never −0.00.
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return localised((Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−"));
}

// A share as per cent with so many digits after the point: 3.1%.
export const percentWith = (share, digits) => localised(`${(100 * share).toFixed(digits)}%`);

// A share as per cent with sensible digits: 97%, 3.1%, <0.1%.
export function percent(share) {
  if (share < 0.001) return localised(share === 0 ? "0%" : "<0.1%");
  return share >= 0.0995 ? localised(`${Math.round(100 * share)}%`) : percentWith(share, 1);
}

// A weight in a cell: .07, .42, 1.0; one below .005 as `least`.
export const cellText = (weight, least = "") => localised(weight < 0.005 ? least : weight >= 0.995 ? "1.0" : weight.toFixed(2).slice(1));
