/**
 * What becomes of an attempt of class `once` whose outcome is not known: its tool's `verify` asks the outside world,
 * `compensate` undoes it, or a person decides. Each of these is an effect itself, with entries of its own (PROTOCOL 3).
 */
import { errorToData } from '../base/errors.ts';
import { sentence } from '../base/text.ts';
import type { LedgerEntry } from '../codec/ledger-codec.ts';
import type { WaitId } from '../model/ids.ts';
import type { WaitAnswer } from '../model/wait.ts';
import { programErrors } from '../program/errors.ts';
import { defaultRetry } from '../program/retry.ts';
import type { Verdict } from '../program/tool.ts';
import { perform } from './effect.ts';
import type { EffectRequest, KnownEffect } from './effect-request.ts';
import { effectKeyFor, waitIdFor } from './identity.ts';
import { recordOutcome } from './ledger-writes.ts';
import { attemptsOf, mostAttempts } from './lost-attempts.ts';
import { giveRecorded } from './reuse.ts';
import { firstSettled, hasFailed } from './step-ledger.ts';
import type { StepRun } from './step-run.ts';

/** A verdict; `trouble` says why `verify` gave none. */
type Found = Verdict<unknown> & { readonly trouble?: string };

/** Afterwards the entry has an outcome: `failed` and not final means that another attempt may be made. */
export async function resolveDoubt(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry,
  args: unknown,
): Promise<void> {
  const { request } = effect;
  // It was given the result of another call, and the record of that is lost: no call was made under its key.
  const { past } = run.writer.image.state?.checkpoint.control ?? {};
  if (past !== undefined && (await giveRecorded(run, effect, past.choices))) return;
  if ((await undoingOf(run, effect, entry)) === 'done') {
    return recordOutcome(run, entry, { status: 'compensated', by: 'compensate' });
  }
  // What a person said comes first, also where newer code has a tool that could say something else.
  if (await obeysPerson(run, effect, entry)) return;
  let trouble = '';
  // Its tool knows the call, if it was made, by another key.
  const isUnplaced = entry.doubt?.reason.code === 'call_unplaced';
  const attempts = attemptsOf(entry, run.ledger.historyOf(effect.key));
  if (isUnplaced) trouble = 'Its arguments may have been others.';
  else if (attempts.length > mostAttempts) trouble = `Any of ${attempts.length} attempts may have been made.`;
  else if (request.verify) {
    const verdict = await verified(run, effect, entry, attempts, args);
    if (await obeysPerson(run, effect, entry)) return;
    if (verdict.trouble !== undefined) trouble = `Its verify failed: ${sentence(verdict.trouble)}`;
    if (verdict.verdict === 'done') {
      return recordOutcome(run, entry, { status: 'succeeded', value: verdict.result, by: 'verify' });
    }
    if (verdict.verdict === 'not_done') return recordNotDone(run, effect, entry, 'verify');
  } else if (request.compensate) {
    // Its own attempt last: once that is undone on record, all are.
    const failure = await failureOf(async () => {
      for (const attempt of attempts) await perform(run, resolutionOf(effect, entry, 'compensate', args, 1, attempt));
    });
    if (failure === undefined) return recordOutcome(run, entry, { status: 'compensated', by: 'compensate' });
    trouble = `It was to be undone, and its compensate failed: ${sentence(failure)} It may be undone or not.`;
  }
  await askPerson(run, effect, entry, args, trouble);
}

/** Why a resolution spent its retries; `undefined` where it did not. */
async function failureOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    if (programErrors.is(error, 'effect_failed')) return error.details.reason;
    throw error;
  }
}

/**
 * How far the undoing of this attempt is. Once it has begun, it decides what became of the attempt: the call may still answer,
 * late or in a runner that lost its lease, and what it did is undone all the same. One that failed for good decides nothing.
 */
export async function undoingOf(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry,
): Promise<'begun' | 'done' | undefined> {
  if (entry.outcome?.status === 'compensated') return 'done'; // also where the record of the undoing itself was lost since
  const { place } = resolutionOf(effect, entry, 'compensate', null, 1);
  const key = await effectKeyFor(run.writer.codec, run.scheduled.step, place);
  const history = run.ledger.historyOf(key);
  const last = firstSettled(history);
  if (history.length === 0 || last?.outcome?.status === 'failed') return undefined;
  if (history.some(({ outcome }) => outcome?.status === 'succeeded')) return 'done';
  return effect.request.compensate && !effect.request.verify ? 'begun' : undefined; // newer code may not know how to go on
}

/**
 * `not_done` is believed only where the call can no longer arrive (PROTOCOL 3): closed at the receiver, or its time is over. A
 * runner whose lease was stolen may have stood still between its last check and the call, for any time: then only a receiver
 * that refuses such a call can make it certain, else a person decides.
 */
async function verified(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry,
  attempts: readonly number[],
  args: unknown,
): Promise<Found> {
  const { clock } = run.ports;
  const overAtMs = entry.intent.notAfterMs + effect.request.settleMs;
  for (let round = 1; ; round += 1) {
    const requests = attempts.map((attempt) => resolutionOf(effect, entry, 'verify', args, round, attempt));
    const { verdict, askedAtMs } = await verdictOfAll(run, requests);
    if (verdict.verdict !== 'not_done' || verdict.closed === true) return verdict;
    if (askedAtMs > overAtMs) return mayStillLeave(run, effect, entry) ? { verdict: 'unknown' } : verdict;
    // At most the whole time again: a clock that was put back must not hold the thread for that long.
    const inMs = Math.min(overAtMs + 1 - entry.intent.atMs, Math.max(0, overAtMs + 1 - clock.nowMs()));
    const reason = 'the call may still arrive; asking again when its time is over';
    run.emit({ type: 'retry', name: `${effect.request.name} (verify)`, attempt: round + 1, inMs, reason });
    await clock.sleep(inMs, run.signal);
  }
}

function mayStillLeave({ writer }: StepRun, { request }: KnownEffect, { intent }: LedgerEntry): boolean {
  return !request.fenced && intent.epoch < (writer.image.row.stolen ?? 0);
}

interface Asked {
  readonly verdict: Found;
  readonly askedAtMs: number;
}

/** The newest first. One that is done settles the call; it did not happen only where that is known of all. */
async function verdictOfAll(run: StepRun, requests: readonly EffectRequest[]): Promise<Asked> {
  const asked: Asked[] = [];
  for (const request of [...requests].reverse()) {
    const one = await verdictOf(run, request);
    if (one.verdict.verdict === 'done') return one;
    asked.push(one);
  }
  asked.sort((a, b) => a.askedAtMs - b.askedAtMs);
  const isOpen = ({ verdict }: Asked) => verdict.verdict === 'not_done' && verdict.closed !== true;
  return asked.find(({ verdict }) => verdict.verdict === 'unknown') ?? asked.find(isOpen) ?? (asked[0] as Asked);
}

/**
 * The verdict and when it was asked for, both from the record: one that a re-run finds there speaks for the time at which it
 * was given, not for now.
 */
async function verdictOf(run: StepRun, request: EffectRequest): Promise<Asked> {
  try {
    const verdict = (await perform(run, request)) as Verdict<unknown>;
    if (!isVerdict(verdict)) {
      const trouble = 'it answered something else than done(…), notDone(…) or unknown';
      return { verdict: { verdict: 'unknown', trouble }, askedAtMs: 0 };
    }
    const key = await effectKeyFor(run.writer.codec, run.scheduled.step, request.place);
    return { verdict, askedAtMs: run.ledger.historyOf(key).at(-1)?.intent.atMs ?? 0 };
  } catch (error) {
    // It failed each time, or what it said cannot be kept.
    if (programErrors.is(error, 'effect_failed'))
      return { verdict: { verdict: 'unknown', trouble: error.details.reason }, askedAtMs: 0 };
    if (programErrors.is(error, 'tool_result_invalid'))
      return { verdict: { verdict: 'unknown', trouble: error.message }, askedAtMs: 0 };
    throw error;
  }
}

function isVerdict(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  return ['done', 'not_done', 'unknown'].includes((given as Verdict<unknown>).verdict);
}

function resolutionOf(
  { request }: KnownEffect,
  entry: LedgerEntry,
  kind: 'verify' | 'compensate',
  args: unknown,
  round: number,
  attempt = entry.intent.attempt,
): EffectRequest {
  const { number } = entry.intent;
  const isOwn = attempt === entry.intent.attempt;
  return {
    kind,
    name: `${request.name} (${kind})`,
    effectClass: 'idempotent',
    // Only that of its own attempt tells by the number of the entry what became of it.
    args: isOwn ? [attempt, round, number] : [attempt, round],
    place: `${request.place}/${kind}.${number}.${round}${isOwn ? '' : `.${attempt}`}`,
    retry: { ...defaultRetry, backoffMs: request.retry.backoffMs },
    timeLimitMs: request.timeLimitMs,
    settleMs: request.settleMs,
    run: async (_, call) => {
      // The receiver knows the effect by its own key and attempt, not by those of this question.
      const about = { ...call, effectKey: entry.intent.key, attempt };
      if (kind === 'verify') return request.verify?.(args, about);
      await request.compensate?.(args, about);
      return null;
    },
  };
}

function doubtId(run: StepRun, { request }: KnownEffect, { intent }: LedgerEntry): Promise<WaitId> {
  return waitIdFor(run.writer.codec, run.scheduled.step, `${request.place}/in_doubt.${intent.number}`);
}

async function askPerson(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry,
  args: unknown,
  trouble: string,
): Promise<void> {
  const { request, key, askedDigest } = effect;
  const { attempt } = entry.intent;
  const answer = await run.waits.answerTo({
    id: await doubtId(run, effect, entry),
    kind: 'in_doubt',
    step: run.scheduled.step,
    tool: request.name,
    effectKey: key,
    args,
    reason: `Attempt ${attempt} ended without a clear answer${entry.doubt ? ` (${entry.doubt.reason.message})` : ''}: it may have happened or not.${trouble === '' ? '' : ` ${trouble}`} Look it up before you answer.`,
    digest: askedDigest,
    expiresInMs: null,
  });
  await settleByPerson(run, effect, entry, answer);
}

/** Settles the attempt by a person's answer that is on record; false where there is none. */
async function obeysPerson(run: StepRun, effect: KnownEffect, entry: LedgerEntry): Promise<boolean> {
  const said = await run.waits.recorded(await doubtId(run, effect, entry));
  if (said !== undefined) await settleByPerson(run, effect, entry, said);
  return said !== undefined;
}

async function settleByPerson(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry,
  answer: WaitAnswer,
): Promise<void> {
  if (answer.decision === 'done') {
    return recordOutcome(run, entry, { status: 'succeeded', value: answer.result, by: 'person' });
  }
  if (answer.decision === 'not_done') return recordNotDone(run, effect, entry, 'person');
  await recordOutcome(run, entry, { status: 'given_up', by: 'person' });
}

/** The attempt did not happen. It counts as failed, and is the last one if attempts are spent. */
async function recordNotDone(
  run: StepRun,
  effect: KnownEffect,
  entry: LedgerEntry,
  by: 'verify' | 'person',
): Promise<void> {
  const failed = run.ledger.historyOf(effect.key).filter(hasFailed).length;
  const final = by === 'verify' && failed >= effect.request.retry.attempts;
  const error =
    entry.doubt?.reason ?? errorToData(new Error('The attempt was cut off before it reached the receiver.'));
  await recordOutcome(run, entry, { status: 'failed', error, by, final });
}
