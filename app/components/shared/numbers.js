// How numbers are written, as app/figures/theme.py writes them.

// So many digits after the point: 0.42, −1.30, never −0.00.
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

// A share as per cent with sensible digits: 97%, 3.1%, <0.1%.
export function percent(share) {
  if (share < 0.001) return share === 0 ? "0%" : "<0.1%";
  return share >= 0.0995 ? `${Math.round(100 * share)}%` : `${(100 * share).toFixed(1)}%`;
}

// A weight in a cell: .07, .42, 1.0; one below .005 as `least`.
export const cellText = (weight, least = "") => (weight < 0.005 ? least : weight >= 0.995 ? "1.0" : weight.toFixed(2).slice(1));
