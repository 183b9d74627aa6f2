const known = new WeakSet<object>();

/** Whether nothing in this value can be changed any more: then the same value is the same content. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  if (known.has(value)) return true;
  // Maps, sets, dates and buffers stay changeable however frozen they are.
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || !Object.isFrozen(value)) return false;
  known.add(value); // before its parts, so that a cycle ends
  const isFrozen = Object.values(value).every(isDeepFrozen);
  if (!isFrozen) known.delete(value);
  return isFrozen;
}
