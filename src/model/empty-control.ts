import { type Control, noLimits, nothingSpent, type Position } from './checkpoint.ts';
import { emptyPast } from './past.ts';
import type { ThreadRow } from './records.ts';

/** Position of a thread that has not run. */
export const emptyPosition: Position = { node: null, step: null, next: [], visits: {} };

/** Control of a thread that has not run: it owes nothing. `digest` is the ledger's so far. */
export function emptyControl(row: ThreadRow, digest: Uint8Array, maxSteps = 0): Control {
  return {
    status: 'idle',
    run: { steps: 0, maxSteps, input: 0, began: null },
    ledger: { count: row.ledger, digest, from: row.ledger, replay: null },
    inboxTaken: 0,
    consumed: [],
    inboxReplay: null,
    epoch: row.epoch,
    lineage: row.incarnation,
    waits: [],
    grants: [],
    usage: { inputTokens: 0, outputTokens: 0, cost: 0 },
    retries: {},
    branches: {},
    resumes: 0,
    limits: noLimits,
    spent: nothingSpent,
    stepFromMs: 0,
    seenAtMs: row.createdAtMs,
    decisions: {},
    failure: null,
    past: emptyPast,
  };
}
