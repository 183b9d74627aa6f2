export interface Figure {
  readonly title: string;
  readonly ours: number;
  readonly peers: Readonly<Record<string, number>>;
  readonly unit: string;
  /** Ours to the peer, both from the same run. */
  readonly ratio: number;
  readonly limit: number;
  /** At most 1 is good. */
  readonly ratioToLimit: number;
  readonly more: Readonly<Record<string, unknown>>;
  /** Where a requirement has several parts: each by itself. The figure itself is then the one that is nearest to its limit. */
  readonly parts?: Readonly<Record<string, Figure>>;
}

/** A figure of something that costs us `ours`, held against `peer`: at most `limit` times as much is good. */
export function figure(
  title: string,
  unit: string,
  ours: number,
  peer: readonly [name: string, value: number],
  limit: number,
  more: Readonly<Record<string, unknown>> = {},
): Figure {
  const [name, value] = peer;
  const ratio = ours / value;
  return { title, ours, peers: { [name]: value }, unit, ratio, limit, ratioToLimit: ratio / limit, more };
}

/** Several figures as one: the one that is nearest to its limit, or over it, stands for all. */
export function together(parts: Readonly<Record<string, Figure>>): Figure {
  const [worst] = Object.values(parts).sort((a, b) => b.ratioToLimit - a.ratioToLimit);
  if (worst === undefined) throw new Error('There is no figure.');
  return { ...worst, parts };
}

/** The value below which this fraction of the samples lies. */
export function quantile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.floor(fraction * sorted.length));
  return sorted[at] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}
