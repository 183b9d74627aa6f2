/** The counts with one of them raised. Names are anybody's: "constructor" has no count before it is given one. */
export function raised(
  counts: Readonly<Record<string, number>>,
  name: string,
  by = 1,
): Readonly<Record<string, number>> {
  const before = Object.hasOwn(counts, name) ? counts[name] : undefined;
  return { ...counts, [name]: (before ?? 0) + by };
}
