// Colours of numbers in SVG and HTML. A scale is a list of [place, "light-dark(#rrggbb, #rrggbb)"], as figures/theme.py
// has them; a shade is again a pair, of which the browser takes one.

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const stops = (scale) => scale.map(([place, pair]) => [place, pair.match(/#\w{6}/g).map(channels)]);

function mixed(scale, value, theme) {
  const next = Math.max(scale.findIndex(([place]) => value <= place), 1);
  const [[low, first], [high, second]] = [scale[next - 1], scale[next]];
  const share = (value - low) / (high - low);
  return first[theme].map((channel, i) => Math.round((1 - share) * channel + share * second[theme][i]));
}

const linear = (channel) => (channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);

function ink(color) {
  const [red, green, blue] = color.map(linear), luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

// Gives for a number from 0 to 1 its colour, and black or white, whichever is easier to read on it.
export function shades(scale) {
  const known = stops(scale);
  return (value) => {
    const [light, dark] = [0, 1].map((theme) => mixed(known, Math.min(Math.max(value, 0), 1), theme));
    return { fill: `light-dark(rgb(${light}), rgb(${dark}))`, ink: `light-dark(${ink(light)}, ${ink(dark)})` };
  };
}
