/** By the codes that the dialect gives them; 16 and 17 stand for a whole buffer and a DataView. */
export const typedArrays = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
] as const;
