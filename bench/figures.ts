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
}

/** The value below which this fraction of the samples lies. */
export function quantile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.floor(fraction * sorted.length));
  return sorted[at] ?? Number.NaN;
}
