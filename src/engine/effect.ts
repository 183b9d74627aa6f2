/**
 * One effect, from the node's call to its result (PROTOCOL 3). Invariants:
 *
 * - I5: intent durable, then the call, then the result durable.
 * - I6: what is on record is given back; another call in its place stops the thread.
 * - An attempt of class `once` that is in doubt is never followed by another before its resolution says `not_done`.
 */
import { errorFromData, errorToData } from '../base/errors.ts';
import { randomFraction } from '../base/random.ts';
import type { LedgerEntry, StoredOutcome } from '../codec/ledger-codec.ts';
import type { StoredValue } from '../codec/thread-codec.ts';
import type { EffectKey } from '../model/ids.ts';
import { programErrors } from '../program/errors.ts';
import type { ModelAnswer } from '../program/model.ts';
import { backoffLeft } from '../program/retry.ts';
import { deepFreeze } from '../program/state.ts';
import { Refusal, type ToolCall } from '../program/tool.ts';
import { askApproval, recallGrant } from './approval.ts';
import { callWithin, isDefiniteRefusal } from './attempt.ts';
import { isTravelLost } from './control-of.ts';
import type { EffectRequest, KnownEffect } from './effect-request.ts';
import { effectKeyFor } from './identity.ts';
import {
  type Finding,
  findOutcomes,
  recordDoubt,
  recordIntent,
  recordLate,
  recordOutcome,
  recordRead,
} from './ledger-writes.ts';
import { onDemand } from './load-on-demand.ts';
import { isStop } from './run-end.ts';
import { describeCall, firstSettled, hasFailed, refuseOtherCall } from './step-ledger.ts';
import { encodeWithDigest, never, type StepRun } from './step-run.ts';

/** @throws `effect_failed`, `effect_given_up`, `effect_compensated`, `tool_denied`, `approval_expired`, `replay_mismatch` */
export async function perform(run: StepRun, request: EffectRequest): Promise<unknown> {
  const { codec } = run.writer;
  const key = await effectKeyFor(codec, run.scheduled.step, request.place);
  const asked = await encodeWithDigest(codec, request.args, request.name);
  const effect: KnownEffect = { request, key, askedDigest: asked.digest };
  const [first] = run.ledger.historyOf(key);
  if (first !== undefined) {
    refuseOtherCall(first, run.nowName(first.intent.name), { ...request, digest: asked.digest });
    if (request.approval) await recallGrant(run, effect);
  } else if (run.recordedWaits !== undefined) {
    const called = describeCall(request.name, asked.digest);
    await run.recordedWaits.refuseOthers(request.place, called);
    run.recordedWaits.refuseOtherApproval({ key, name: request.name, digest: asked.digest }, called);
  }

  const known = await settledResult(run, effect);
  if (known !== undefined) return known.value;
  if (first === undefined && (await isReused(run, effect))) return (await settledResult(run, effect))?.value;
  // Asked before a lost entry is taken for this call: without the answer, which is on record, it was never made.
  const asks = first === undefined && request.approval;
  const args = first !== undefined ? await recordedArgs(run, key) : request.args;
  const allowed = asks ? await askApproval(run, effect, asks) : args;
  const mayBeOnRecord = run.ledger.lost.length > 0 || isTravelLost(run.writer.image);
  if (request.effectClass === 'once' && mayBeOnRecord) await (await onDemand()).adoptLost(run, effect, allowed);
  return attemptUntilSettled(run, effect, allowed);
}

/** Whether going back on purpose left a result for this call (PROTOCOL 4); it is on record as the call's own then. */
async function isReused(run: StepRun, effect: KnownEffect): Promise<boolean> {
  const choices = run.writer.image.state?.checkpoint.control.past.choices ?? [];
  if (!choices.some(({ choice }) => choice === 'reuse')) return false;
  return (await onDemand()).giveRecorded(run, effect, choices);
}

async function attemptUntilSettled(run: StepRun, effect: KnownEffect, args: unknown): Promise<unknown> {
  for (;;) {
    await run.ledger.arrived(effect.key);
    const known = await settledResult(run, effect);
    if (known !== undefined) return known.value;
    if (run.isSuspended()) return never();
    run.signal.throwIfAborted();
    const last = run.ledger.historyOf(effect.key).at(-1);
    const isOpen =
      last !== undefined && (last.outcome === undefined || (await undoingOf(run, effect, last)) === 'begun');
    // By the class that it was made with: newer code may have another word for it.
    if (isOpen && [effect.request.effectClass, last.intent.effectClass].includes('once')) {
      await (await onDemand()).resolveDoubt(run, effect, last, args);
    } else {
      const spent = spentAttempt(run, effect, last);
      if (spent === undefined) await waitBeforeRetry(run, effect, last);
      // An answer to an earlier attempt, or one more failure, has come meanwhile.
      if ((await findOutcomes(run, effect.key)) || run.ledger.isAnswered(effect.key)) continue;
      await (spent === undefined ? attempt(run, effect, args) : recordOutcome(run, spent.entry, spent.finding));
    }
  }
}

/**
 * The last attempt that there was to be, where a doubt is all that could be recorded of it: retries spent is a result (PROTOCOL
 * 3), and it is on record before anything else follows.
 */
function spentAttempt(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry | undefined,
): { readonly entry: LedgerEntry; readonly finding: Finding } | undefined {
  if (entry?.doubt === undefined || entry.outcome !== undefined) return undefined;
  if (failuresOf(run, effect) < effect.request.retry.attempts) return undefined;
  return { entry, finding: { status: 'failed', error: entry.doubt.reason, by: 'call', final: true } };
}

/** The recorded result, thrown if it is a failure; `undefined` while there is none. */
async function settledResult(run: StepRun, effect: KnownEffect): Promise<{ value: unknown } | undefined> {
  const { key, request } = effect;
  const entry = firstSettled(run.ledger.historyOf(key));
  const outcome = entry?.outcome;
  if (entry === undefined || outcome === undefined) return undefined;
  const undoing = await undoingOf(run, effect, entry);
  if (undoing === 'begun') return undefined;
  if (undoing === 'done')
    throw (await onDemand()).rareProgramErrors.make('effect_compensated', { name: request.name, key });
  switch (outcome.status) {
    case 'succeeded':
      if (outcome.error !== null) throw errorFromData(outcome.error);
      return { value: outcome.value === null ? undefined : await decoded(run, request, outcome, outcome.value) };
    case 'given_up':
      throw (await onDemand()).rareProgramErrors.make('effect_given_up', { name: request.name, key });
    case 'compensated':
      throw (await onDemand()).rareProgramErrors.make('effect_compensated', { name: request.name, key });
    case 'failed':
      throw programErrors.make(
        'effect_failed',
        {
          name: request.name,
          key,
          attempts: entry.intent.attempt,
          reason: outcome.error?.message ?? 'no reason given',
        },
        outcome.error === null ? undefined : errorFromData(outcome.error),
      );
  }
}

/** How far the undoing of this attempt is: there is something to look up only where one has begun. */
async function undoingOf(run: StepRun, effect: KnownEffect, entry: LedgerEntry): Promise<'begun' | 'done' | undefined> {
  if (!run.ledger.entries.some(({ intent }) => intent.kind === 'compensate')) return undefined;
  return (await onDemand()).undoingOf(run, effect, entry);
}

async function decoded(run: StepRun, request: EffectRequest, { by }: StoredOutcome, stored: StoredValue) {
  const value = deepFreeze(await run.writer.codec.decodeValue(stored));
  if (by !== 'reuse' || request.kind !== 'model') return value;
  run.ledger.paid.add(value as ModelAnswer);
  return value;
}

/** An intent that is there is sent again with what it recorded, never with what the node makes of it now (PROTOCOL 1). */
async function recordedArgs(run: StepRun, key: EffectKey): Promise<unknown> {
  const entry = run.ledger.historyOf(key).at(-1);
  return entry === undefined ? undefined : run.writer.codec.decodeValue(entry.intent.args);
}

/** One attempt; afterwards the ledger holds its outcome, or the doubt about it. */
async function attempt(run: StepRun, effect: KnownEffect, args: unknown): Promise<void> {
  const { request } = effect;
  const number = (run.ledger.historyOf(effect.key).at(-1)?.intent.attempt ?? 0) + 1;
  await request.mayStart?.(number);
  if (run.ledger.isAnswered(effect.key)) return; // an answer to an earlier attempt came meanwhile
  if (request.effectClass === 'read') return attemptRead(run, effect, args, number);
  const entry = await recordIntent(run, effect, args, number);
  // The same task in which the intent became durable: nothing may come between this check and the call (PROTOCOL 3).
  const lateMs = run.ports.clock.nowMs() - entry.intent.notAfterMs;
  // An answer to an earlier attempt may have come while the intent was written.
  if (lateMs > 0 || run.signal.aborted || run.isSuspended() || run.ledger.isAnswered(effect.key)) {
    const error = programErrors.make('effect_not_started', { name: request.name, lateMs: Math.max(0, lateMs) });
    await recordOutcome(run, entry, { status: 'failed', error: errorToData(error), by: 'engine', final: false });
    return run.signal.throwIfAborted();
  }
  const answer = await callWithin(run, request, args, callOf(run, effect, entry), (value) =>
    run.ledger.arriving(effect.key, recordLate(run, entry, value)),
  );
  if ('value' in answer) return recordOutcome(run, entry, { status: 'succeeded', value: answer.value, by: 'call' });
  await recordFailure(run, effect, entry, answer.error);
}

async function recordFailure(run: StepRun, effect: KnownEffect, entry: LedgerEntry, cause: unknown): Promise<void> {
  const { request } = effect;
  const error = errorToData(cause);
  // A model whose answer cannot be used is not paid once more for the same.
  const isUncounted = programErrors.is(cause) && (error.code === 'usage_invalid' || error.code === 'part_invalid');
  const isSpent = isUncounted || failuresOf(run, effect) + 1 >= request.retry.attempts;
  const wantsNoRetry = cause instanceof Refusal && !cause.details.retry;
  if (isDefiniteRefusal(cause)) {
    return recordOutcome(run, entry, { status: 'failed', error, by: 'call', final: isSpent || wantsNoRetry });
  }
  if (isStop(run.signal.reason)) throw run.signal.reason; // as after a crash: in doubt, and no failure that counts
  if (request.effectClass !== 'once' && isSpent && !run.signal.aborted) {
    return recordOutcome(run, entry, { status: 'failed', error, by: 'call', final: true });
  }
  await recordDoubt(run, entry, error);
  run.signal.throwIfAborted();
}

/**
 * A read needs no intent: it is recorded with its answer, or with its failure, which counts. Nor is the lease looked at before it
 * (PROTOCOL 5): it changes nothing outside, and what it found is kept only for whoever holds the lease.
 */
async function attemptRead(run: StepRun, effect: KnownEffect, args: unknown, number: number): Promise<void> {
  const { request, key } = effect;
  const { signal } = run;
  const call: ToolCall = { effectKey: key, attempt: number, abortSignal: signal, notAfterMs: Number.MAX_SAFE_INTEGER };
  const answer = await callWithin(run, request, args, call, async () => undefined);
  if (run.isSuspended()) return never(); // the step runs again by now, and may have been given another answer
  if ('value' in answer) {
    return recordRead(run, effect, args, number, { status: 'succeeded', value: answer.value, by: 'call' });
  }
  signal.throwIfAborted();
  const isSpent = failuresOf(run, effect) + 1 >= request.retry.attempts;
  const wantsNoRetry = answer.error instanceof Refusal && !answer.error.details.retry;
  const error = errorToData(answer.error);
  await recordRead(run, effect, args, number, { status: 'failed', error, by: 'call', final: isSpent || wantsNoRetry });
}

function failuresOf(run: StepRun, { key }: KnownEffect): number {
  return run.ledger.historyOf(key).filter(hasFailed).length;
}

async function waitBeforeRetry(run: StepRun, effect: KnownEffect, last: LedgerEntry | undefined): Promise<void> {
  const failedAtMs = last?.outcome?.atMs ?? last?.doubt?.atMs;
  if (last === undefined || failedAtMs === undefined || !hasFailed(last)) return;
  const { request } = effect;
  const { clock, random } = run.ports;
  const nowMs = clock.nowMs();
  const inMs = backoffLeft(request.retry, failuresOf(run, effect), {
    failedAtMs,
    nowMs,
    fraction: randomFraction(random),
  });
  const reason = (last.outcome?.error ?? last.doubt?.reason)?.message ?? '';
  run.emit({ type: 'retry', name: request.name, attempt: last.intent.attempt + 1, inMs, reason });
  await clock.sleep(inMs, run.signal);
}

function callOf(run: StepRun, { key }: KnownEffect, { intent }: LedgerEntry): ToolCall {
  return { effectKey: key, attempt: intent.attempt, abortSignal: run.signal, notAfterMs: intent.notAfterMs };
}
