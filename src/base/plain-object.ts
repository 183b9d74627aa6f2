/** Whether a value is an object of fields: no list, no map, no date, no promise that somebody forgot to await. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What a value is that is no such object. */
export function notPlain(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : `of type ${typeof value}`;
  if (Array.isArray(value)) return 'a list';
  const name: unknown = value.constructor?.name;
  if (name === 'Promise') return 'a promise: await it';
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object with a prototype of its own';
}
