import type { CheckpointId } from './ids.ts';
import type { Table } from './records.ts';

/** A record that is not what was sealed there, or is gone. It is kept as it is; a sealed mark in the event log names it. */
export interface QuarantinedRecord {
  readonly table: Table | 'threads';
  readonly key: string;
  readonly reason: string;
  readonly atMs: number;
  /** The checkpoint that the thread went on from without this record. */
  readonly repairedBy: CheckpointId;
}

/** What a repair found, and where the thread goes on. */
export interface RepairInfo {
  /** The head that could not be used. */
  readonly from: CheckpointId | null;
  /** The checkpoint whose state the thread goes on from; `null`: from its first input. */
  readonly to: CheckpointId | null;
  /** The new head: the state of `to`, whole. */
  readonly checkpoint: CheckpointId;
  /** Checkpoints that are passed over: their steps run again, with the recorded results. 0: nothing was lost. */
  readonly passedOver: number;
  readonly quarantined: readonly QuarantinedRecord[];
}
