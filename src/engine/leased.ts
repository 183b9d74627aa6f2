/** What one lease of a thread works with: its boundaries, waits and lines. */
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { RunBoundaries } from './boundaries.ts';
import { Boundary, type BoundaryParts } from './boundary.ts';
import { LineUpdates } from './line-updates.ts';
import { onDemand } from './load-on-demand.ts';
import type { StopReason } from './run-end.ts';
import { RunLines } from './run-lines.ts';
import { StepBoundaries } from './step-boundaries.ts';
import { WaitBoundaries } from './wait-boundaries.ts';

export interface Leased {
  readonly boundary: Boundary;
  readonly runs: RunBoundaries;
  readonly waits: WaitBoundaries;
  readonly lines: RunLines;
}

export async function leasedParts(
  parts: BoundaryParts,
  codec: ThreadCodec,
  isResumed: boolean,
  stop: (why: StopReason) => void,
): Promise<Leased> {
  const boundary = await Boundary.open(parts, isResumed);
  const updates = new LineUpdates(codec, () => boundary.image);
  const runs = new RunBoundaries(boundary, updates);
  const waits = new WaitBoundaries(boundary);
  boundary.teller = waits;
  const steps = new StepBoundaries(boundary, updates);
  const policy = async () => {
    const { StepPolicy } = await onDemand();
    return new StepPolicy({ boundary, steps, waits });
  };
  const lines = new RunLines({ codec, boundary, updates, runs, steps, waits, policy, stop });
  return { boundary, runs, waits, lines };
}
