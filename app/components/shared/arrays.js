// Numbers as they arrive: the bytes of an array in base64.

export const TYPES = {
  i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
};

export const numbersIn = (base64, type = "f4") => new TYPES[type](Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);

// An array as app/components/chart/__init__.py encodes it: { values, shape }.
export function decoded({ dtype, bdata, shape }) {
  const values = numbersIn(bdata, dtype);
  return { values, shape: shape ? String(shape).split(",").map(Number) : [values.length] };
}
