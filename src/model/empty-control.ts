import type { Control, Position } from './checkpoint.ts';
import type { ThreadRow } from './records.ts';

/** Position of a thread that has not run. */
export const emptyPosition: Position = { node: null, step: null, next: [], visits: {} };

/** Control of a thread that has not run: it owes nothing. `digest` is the ledger's so far. */
export function emptyControl(row: ThreadRow, digest: Uint8Array, maxSteps = 0): Control {
  return {
    status: 'idle',
    run: { steps: 0, maxSteps },
    ledger: { count: row.ledger, digest, from: row.ledger, replayTo: 0 },
    inboxTaken: row.inboxTaken,
    epoch: row.epoch,
    lineage: row.incarnation,
    waits: [],
    grants: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    retries: {},
    branches: {},
    resumes: 0,
    deadlineAtMs: null,
    failure: null,
  };
}
