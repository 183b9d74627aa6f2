/**
 * Calls of class `once` whose entries are lost. A lost record is not "never called" (PROTOCOL 3), and which attempt it held is not
 * known either: entries behind the last known attempt of a call may be of any calls of the step. Of a call that stands for several
 * attempts, its receiver is asked about each by its own number, since that is what it knows them by.
 */
import { errorToData } from '../base/errors.ts';
import type { LedgerEntry } from '../codec/ledger-codec.ts';
import type { KnownEffect } from './effect-request.ts';
import { recordLostCall } from './ledger-writes-rare.ts';
import type { StepRun } from './step-run.ts';
import { adoptUnplaced } from './unplaced.ts';

/** With more than these a person is asked: each is a question to the receiver of its own. */
export const mostAttempts = 10;

/**
 * A call that may be on record where it is not found: it counts as made, at most as often as entries are lost. One that is in doubt
 * already was the last one.
 */
export async function adoptLost(run: StepRun, effect: KnownEffect, args: unknown): Promise<void> {
  if (run.ledger.lost.length === 0) return adoptUnplaced(run, effect, args);
  const last = run.ledger.historyOf(effect.key).at(-1);
  const lost = run.ledger.lost.filter(({ number }) => number > (last?.intent.number ?? 0));
  if (lost.length === 0 || (last !== undefined && last.outcome === undefined)) return;
  const numbers = lost.map(({ number }) => number).join(', ');
  const reason = errorToData(
    new Error(`Ledger entries ${numbers} of this step are lost; this call may be among them.`),
  );
  await recordLostCall(run, effect, args, (last?.intent.attempt ?? 0) + lost.length, reason);
}

/**
 * The attempts that an entry stands for, its own the last: those before it that no other entry of the call tells of. At most one of
 * them stands, as no other follows before it is known not to have happened.
 */
export function attemptsOf({ intent }: LedgerEntry, entriesOfCall: readonly LedgerEntry[]): readonly number[] {
  const before = entriesOfCall.filter((other) => other.intent.number < intent.number);
  const known = Math.max(0, ...before.map((other) => other.intent.attempt));
  return Array.from({ length: Math.max(1, intent.attempt - known) }, (_, index) => intent.attempt - index).reverse();
}
