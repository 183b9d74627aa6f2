import type { StoredValue, ThreadCodec } from '../codec/thread-codec.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { Frame } from '../model/frame.ts';
import type { Activity } from './activity.ts';
import type { Decision } from './decision.ts';
import type { OpenCalls } from './open-calls.ts';
import type { RunPorts } from './ports.ts';
import type { StepLedger } from './step-ledger.ts';
import type { StepWaits } from './step-waits.ts';
import type { ThreadWriter } from './thread-writer.ts';

/** Model use that no commit holds yet. */
export interface Tally {
  inputTokens: number;
  outputTokens: number;
  cost: number;
}

/** What all parts of one attempt at one step share. */
export interface StepRun {
  readonly ports: RunPorts;
  readonly writer: ThreadWriter;
  readonly scheduled: ScheduledStep;
  readonly ledger: StepLedger;
  readonly waits: StepWaits;
  readonly activity: Activity;
  readonly calls: OpenCalls;
  /** Values of clock and chance that no ledger entry holds yet. */
  readonly freshInputs: (readonly [place: string, value: number])[];
  /** What this attempt at the step used, and was granted: goes into its commit. */
  readonly tally: Tally;
  readonly grants: Set<string>;
  /** Rules of the policy that took the place of calls: told with its commit. */
  readonly decisions: Decision[];
  /** Aborted on cancel, on the node's time limit, and when the lease is lost. */
  readonly signal: AbortSignal;
  /** True once the node waits and was given up: what it still does goes nowhere. */
  isSuspended(): boolean;
  /** The name that a recorded tool has in this version of the agent. */
  readonly nowName: (recorded: string) => string;
  /** Called before each model call. @throws Stop where the run has used what it may */
  readonly checkBudget: () => void;
  readonly emit: (frame: Frame) => void;
}

/** For code that goes on in a node which was given up: it stops here, for ever, and is collected. */
export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => undefined);
}

/** A value as the ledger holds it, and its digest. */
export async function encodeWithDigest(
  codec: ThreadCodec,
  value: unknown,
  path: string,
): Promise<{ readonly stored: StoredValue; readonly digest: string; readonly blobs: BlobBatch }> {
  const blobs = new BlobBatch();
  const stored = await codec.encodeValue(value, path, blobs);
  const digest = await codec.sealer.hash('args', stored instanceof Uint8Array ? stored : stored.hash);
  return { stored, digest, blobs };
}

/**
 * The values of clock and chance that were seen since the last entry, to be written with the next one: the step may have decided
 * by them what it calls (PROTOCOL 1).
 */
export function takeInputs(run: StepRun): readonly (readonly [string, number])[] {
  return run.freshInputs.splice(0);
}
