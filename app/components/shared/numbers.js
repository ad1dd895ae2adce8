// How numbers are written, as app/figures/theme.py and shares.py write them, in the visitor's language: −1,30 and 3,1 %
// in German.

export const SIGNS = {};  // app/components/bundles.py writes here what the language has instead of ".", "," and "%"

// Rewrites an English number in the visitor's language. The argument is only the number, never a sentence.
export const localised = (number) => number.replace(/[.,%]/g, (sign) => SIGNS[sign] ?? sign);

// With `digits` digits after the point: 0.42, and -0.00 for a very small negative number.
export const decimals = (value, digits) => localised(value.toFixed(digits));

// A count: 12,345.
export const grouped = (count) => localised(count.toLocaleString("en"));

// With `digits` digits after the point: 0.42, −1.30, never −0.00.
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return localised((Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−"));
}

// A share as per cent with `digits` digits after the point: 3.1%.
export const percentWith = (share, digits) => localised(`${(100 * share).toFixed(digits)}%`);

// Probabilities, weights and other shares, as app/figures/shares.py writes them: 0 and 1 only if they are exactly 0 or
// 1 (test_the_browser_writes_shares_as_python_does).

const MOST_DECIMALS = 5;

// As per cent: 97%, 3.1%, <0.1%, 99.7%, >99.9%. It has up to `most` decimals near 100% (99.995% with 3), and `least`
// below 10%.
export function percent(share, most = 1, least = 1) {
  if (share <= 0 || share >= 1) return localised(share <= 0 ? "0%" : "100%");
  const value = 100 * share;
  if (value < 10 ** -least) return localised(`<${(10 ** -least).toFixed(least)}%`);
  const fewest = value < 9.95 ? least : 0;
  for (let digits = fewest; digits <= Math.max(most, fewest); digits++) {
    const text = value.toFixed(digits);
    if (Number(text) < 100) return localised(`${text}%`);
  }
  return localised(`>${(100 - 10 ** -most).toFixed(most)}%`);
}

// As a decimal number: 0.42, <0.01, 0.997, 0.99995, >0.99999.
export function decimal(share, digits = 2) {
  if (share <= 0 || share >= 1) return share <= 0 ? "0" : "1";
  if (share < 0.5 * 10 ** -digits) return localised(`<${(10 ** -digits).toFixed(digits)}`);
  for (let count = digits; count <= Math.max(digits, MOST_DECIMALS); count++) {
    const text = share.toFixed(count);
    if (text.startsWith("0")) return localised(text);
  }
  return localised(`>0.${"9".repeat(Math.max(digits, MOST_DECIMALS))}`);
}

// A weight in a cell: .07, .42, >.99, 1.0; the text `least` for a weight below .005.
export function cellText(weight, least = "") {
  if (weight < 0.005) return least;
  return localised(weight < 0.995 ? weight.toFixed(2).slice(1) : weight < 1 ? ">.99" : "1.0");
}
