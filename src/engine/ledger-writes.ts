/** Writes of one effect's entries. Intents go through the thread; outcomes and doubts never wait for it (PROTOCOL 3). */
import { type ErrorData, errorToData } from '../base/errors.ts';
import { randomId } from '../base/random.ts';
import { codecErrors } from '../codec/errors.ts';
import {
  freedReserve,
  type LedgerEntry,
  ledgerKey,
  readDoubt,
  readOutcome,
  type StoredIntent,
  type StoredOutcome,
  saysTheSame,
  sealDoubt,
  sealOutcome,
  sealReserve,
} from '../codec/ledger-codec.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { OutcomeStatus, SettledBy } from '../model/effect.ts';
import type { EffectKey } from '../model/ids.ts';
import { programErrors } from '../program/errors.ts';
import type { KnownEffect, RecordedEffect } from './effect-request.ts';
import { onDemand } from './load-on-demand.ts';
import { effectInfo, settles } from './step-ledger.ts';
import { encodeWithDigest, type StepRun, takeInputs } from './step-run.ts';

/** How long after its intent a call may still start. */
const startWithinMs = 10_000;

export interface Finding {
  readonly status: OutcomeStatus;
  readonly value?: unknown;
  readonly error?: ErrorData;
  readonly by: SettledBy;
  readonly final?: boolean;
}

/**
 * Strict, so that neither the call nor what it is made of is unknown after a crash: a strict commit keeps all that came before it,
 * relaxed steps too (PROTOCOL 3 and 8). Conditional on the epoch: whoever lost the lease makes no call (PROTOCOL 5).
 *
 * @throws `lease_lost`, `value_not_storable`
 */
export async function recordIntent(
  run: StepRun,
  effect: RecordedEffect,
  args: unknown,
  attempt: number,
): Promise<LedgerEntry> {
  const { stored, blobs } = await encodeWithDigest(run.writer.codec, args, effect.request.name);
  const written = await writeIntent(run, (number) => intentOf(run, effect, stored, attempt, number), {
    durability: 'strict',
    blobs,
    records: async (number) => [await sealReserve(run.writer.codec, number)],
  });
  return remember(run, {
    ...written,
    digest: run.writer.image.control.ledgerDigest,
    outcome: undefined,
    doubt: undefined,
  });
}

/** A read's entry and its outcome, in one group. What is made of it leaves nowhere before a strict commit: an intent (PROTOCOL 8). */
export async function recordRead(
  run: StepRun,
  effect: KnownEffect,
  args: unknown,
  attempt: number,
  finding: Finding,
): Promise<void> {
  const { codec } = run.writer;
  const { stored, blobs } = await encodeWithDigest(codec, args, effect.request.name);
  const outcome = await outcomeOf(run, finding, effect.request.name, blobs);
  const written = await writeIntent(run, (number) => intentOf(run, effect, stored, attempt, number), {
    durability: 'relaxed',
    blobs,
    records: async (number) => [await sealOutcome(codec, number, outcome)],
  });
  remember(run, { ...written, digest: run.writer.image.control.ledgerDigest, outcome, doubt: undefined });
}

/**
 * The outcome, write-once (PROTOCOL 3): one that is there already, from a runner that lost its lease, stands, and this one is kept
 * beside it if it says something else.
 */
export async function recordOutcome(run: StepRun, entry: LedgerEntry, finding: Finding): Promise<void> {
  const { codec } = run.writer;
  const { number, name } = entry.intent;
  const blobs = new BlobBatch({ mayReuse: false });
  const outcome = await outcomeOf(run, finding, name, blobs);
  if (settles({ outcome })) await closeOlder(run, entry);
  const records = [await sealOutcome(codec, number, outcome), ...blobs.writes()];
  const result = await writeEvidence(run, entry, records, () => statusAlone(run, entry, outcome));
  const first = result.status === 'exists' ? await readOutcome(codec, number) : undefined;
  if (first !== undefined && !saysTheSame(first, outcome)) await keepBeside(run, entry, outcome, blobs);
  remember(run, { ...entry, outcome: first ?? outcome });
}

/**
 * Before an attempt settles the effect, older ones whose answer is still out are closed: an answer that comes later is kept
 * beside, and every run of the node gets what this one got. One that was faster than the closing stands, and goes first.
 */
async function closeOlder(run: StepRun, { intent: { key, number, attempt, name } }: LedgerEntry): Promise<void> {
  const { codec } = run.writer;
  for (const older of run.ledger.historyOf(key)) {
    if (older.outcome !== undefined || older.intent.number >= number) continue;
    const error = older.doubt?.reason ?? errorToData(new Error(`Attempt ${attempt} of "${name}" was answered first.`));
    const closed: StoredOutcome = {
      status: 'failed',
      value: null,
      error,
      by: 'engine',
      atMs: run.ports.clock.nowMs(),
      final: false,
    };
    const result = await writeEvidence(run, older, [await sealOutcome(codec, older.intent.number, closed)]);
    const first = result.status === 'exists' ? await readOutcome(codec, older.intent.number) : undefined;
    remember(run, { ...older, outcome: first ?? closed });
  }
}

/** An answer after its time limit is evidence all the same (PROTOCOL 3). Where the effect is settled, it is kept beside. */
export async function recordLate(run: StepRun, entry: LedgerEntry, value: unknown): Promise<void> {
  const { key, name } = entry.intent;
  const finding: Finding = { status: 'succeeded', value, by: 'call' };
  if (!run.ledger.historyOf(key).some(settles)) return recordOutcome(run, entry, finding);
  const blobs = new BlobBatch({ mayReuse: false });
  await keepBeside(run, entry, await outcomeOf(run, finding, name, blobs), blobs);
}

/**
 * An earlier run of the step, here or elsewhere, may have recorded what became of its attempt since the ledger was read
 * (PROTOCOL 3). Whether anything of that is new.
 */
export async function findOutcomes(run: StepRun, key: EffectKey): Promise<boolean> {
  let isAny = false;
  for (const entry of run.ledger.historyOf(key)) {
    const { number } = entry.intent;
    if (entry.outcome !== undefined || !run.ledger.isEarlier(number)) continue;
    const outcome = await readOutcome(run.writer.codec, number);
    const doubt = entry.doubt ?? (await readDoubt(run.writer.codec, number));
    if (outcome === undefined && doubt === entry.doubt) continue;
    remember(run, { ...entry, outcome, doubt });
    isAny = true;
  }
  return isAny;
}

/** A second outcome that says something else is never thrown away, and somebody should know (PROTOCOL 3). */
async function keepBeside(run: StepRun, entry: LedgerEntry, outcome: StoredOutcome, blobs: BlobBatch): Promise<void> {
  const suffix = randomId(run.ports.random, 6);
  const beside = await sealOutcome(run.writer.codec, entry.intent.number, outcome, suffix);
  await writeEvidence(run, entry, [beside, ...blobs.writes()]);
  const { name, number, key } = entry.intent;
  const { rareProgramErrors } = await onDemand();
  const error = errorToData(
    rareProgramErrors.make('outcomes_differ', { name, key, entry: number, later: outcome.status }),
  );
  run.emit({ type: 'alert', reason: 'outcomes_differ', node: run.scheduled.node, error });
}

/** Why the outcome of an attempt is not known: counts as a failed attempt, is kept, and is no result (PROTOCOL 3). */
export async function recordDoubt(run: StepRun, entry: LedgerEntry, reason: ErrorData): Promise<void> {
  const doubt = { reason: run.writer.codec.secrets.masked(reason), atMs: run.ports.clock.nowMs() };
  await writeEvidence(run, entry, [await sealDoubt(run.writer.codec, entry.intent.number, doubt)]);
  remember(run, { ...entry, doubt });
}

/** Values of clock and chance that a wait is about to show: on record before anyone sees what was made of them (PROTOCOL 1). */
export async function recordInputs(run: StepRun): Promise<void> {
  if (run.freshInputs.length === 0) return;
  const { codec } = run.writer;
  const { stored, blobs, digest } = await encodeWithDigest(codec, null, 'inputs');
  const key = (await codec.sealer.hash(
    'inputs',
    run.scheduled.step,
    run.writer.image.row.ledger,
  )) as StoredIntent['key'];
  const request = { kind: 'inputs', name: 'inputs', effectClass: 'read' } as const;
  await writeIntent(run, (number) => intentOf(run, { request, key, askedDigest: digest }, stored, 1, number), {
    durability: 'relaxed',
    blobs,
  });
}

/** Writes an entry. If that fails, the values that went with it go with the next one: what was made of them may be recorded. */
export function writeIntent(
  run: StepRun,
  make: (number: number) => StoredIntent,
  options: Parameters<StepRun['writer']['intent']>[1],
): ReturnType<StepRun['writer']['intent']> {
  const giveBack = ({ inputs }: StoredIntent) => run.freshInputs.unshift(...inputs);
  return run.writer.intent(make, { ...options, giveBack });
}

export function intentOf(
  run: StepRun,
  effect: RecordedEffect,
  args: StoredIntent['args'],
  attempt: number,
  number: number,
): StoredIntent {
  const { request, key, askedDigest } = effect;
  const atMs = run.ports.clock.nowMs();
  return {
    number,
    key,
    step: run.scheduled.step,
    attempt,
    kind: request.kind,
    name: request.name,
    effectClass: request.effectClass,
    askedDigest,
    args,
    notAfterMs: atMs + startWithinMs,
    atMs,
    epoch: run.writer.image.row.epoch.local,
    inputs: takeInputs(run),
  };
}

/** A success whose value cannot be stored did happen: it is recorded as one, with the error that the node gets. */
export async function outcomeOf(
  run: StepRun,
  finding: Finding,
  name: string,
  blobs: BlobBatch,
): Promise<StoredOutcome> {
  const { status, by } = finding;
  const { secrets } = run.writer.codec;
  const given = secrets.masked(finding.error ?? null);
  const base = { status, by, atMs: run.ports.clock.nowMs(), final: finding.final ?? status !== 'failed' };
  if (finding.value === undefined) return { ...base, value: null, error: given };
  try {
    const value = await run.writer.codec.encodeValue(finding.value, `${name}()`, blobs);
    return { ...base, value, error: given };
  } catch (cause) {
    if (!codecErrors.is(cause, 'value_not_storable')) throw cause; // the store's trouble is none of the result's
    const { found, path, hint } = cause.details;
    const problem = `it has ${found} at ${path}. The call was made, and is on record.`;
    const error = programErrors.make(
      'tool_result_invalid',
      { tool: name, problem: `${problem} To mend it, ${hint}.` },
      cause,
    );
    return { ...base, value: null, error: secrets.masked(errorToData(error)) };
  }
}

/**
 * What is recorded at once where a whole result finds the disk full (PROTOCOL 8): that the call ended. If the process dies before
 * the result is stored the call is in doubt, and whoever is asked reads why.
 */
function statusAlone({ writer, ports }: StepRun, { intent: { number, name } }: LedgerEntry, { status }: StoredOutcome) {
  const reason = { ...errorToData(programErrors.make('result_not_stored', { name, status })), stack: undefined };
  return sealDoubt(writer.codec, number, { reason, atMs: ports.clock.nowMs() });
}

/** Each takes the space that the intent reserved. `instead`: what is written while the disk is full. */
function writeEvidence(
  run: StepRun,
  { intent: { number, effectClass }, commit }: LedgerEntry,
  records: readonly RecordWrite[],
  instead?: () => Promise<RecordWrite>,
) {
  const freed = effectClass === 'read' ? [] : [freedReserve(number)];
  const present = { kind: 'present', table: 'ledger', key: ledgerKey(number, 'i'), commit } as const;
  return run.writer.evidence([...records, ...freed], [present], {
    durability: effectClass === 'read' ? 'relaxed' : 'strict',
    ...(instead && { instead: async () => [await instead(), ...freed] }),
  });
}

export function remember(run: StepRun, entry: LedgerEntry): LedgerEntry {
  run.ledger.add(entry);
  run.emit({ type: 'effect', effect: effectInfo(entry, true) });
  return entry;
}
