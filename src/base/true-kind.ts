/** Whether an object is what its prototype says: `Object.create(Date.prototype)` is no date, and none of a date's methods works on it. */
export function isTrue(value: object): boolean {
  switch (Object.getPrototypeOf(value)) {
    case Array.prototype:
      return Array.isArray(value);
    case Map.prototype:
      return answers(() => Reflect.get(Map.prototype, 'size', value));
    case Set.prototype:
      return answers(() => Reflect.get(Set.prototype, 'size', value));
    case Date.prototype:
      return answers(() => Date.prototype.getTime.call(value));
    default:
      return true;
  }
}

function answers(ask: () => unknown): boolean {
  try {
    ask();
    return true;
  } catch {
    return false;
  }
}
