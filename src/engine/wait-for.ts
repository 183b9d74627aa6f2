/** A wait of a step, from its question to its answer (B9): what every kind of wait has in common. */
import type { WaitAnswer, WaitKind } from '../model/wait.ts';
import { describeWait } from './describe-wait.ts';
import { effectKeyFor, waitIdFor } from './identity.ts';
import { recordInputs } from './ledger-writes.ts';
import { onDemand } from './load-on-demand.ts';
import { encodeWithDigest, type StepRun } from './step-run.ts';
import { firstQuestion, waitPlaces } from './wait-places.ts';

interface Asked {
  readonly kind: WaitKind;
  readonly about: string;
  readonly args: unknown;
  readonly reason: string;
  readonly expiresInMs: number | null;
}

/** Stands until the network is there, if it is away, or was when this place was reached before. */
export async function waitWhileOffline(run: StepRun, place: string): Promise<void> {
  if (run.ports.network?.isOnline() !== false && !(await isAsked(run, `${place}/network`))) return;
  const reason = 'until the network is there';
  await waitFor(run, `${place}/network`, { kind: 'network', about: '', args: null, reason, expiresInMs: null });
}

async function isAsked(run: StepRun, place: string): Promise<boolean> {
  return run.waits.isKnown(await waitIdFor(run.writer.codec, run.scheduled.step, place));
}

/** A new question is not asked where something else is on record. @throws `replay_mismatch` */
async function refuseOtherRecord(run: StepRun, at: string, asked: Parameters<typeof describeWait>[0]): Promise<void> {
  const { ledger, recordedWaits, scheduled, writer } = run;
  if (ledger.entries.length === 0 && recordedWaits === undefined) return;
  const called = describeWait(asked);
  const place = at.slice(0, at.lastIndexOf('/'));
  // A child is a call itself, and was held against the one on record.
  if (asked.kind !== 'child') ledger.refuseCallAt(await effectKeyFor(writer.codec, scheduled.step, place), called);
  // A second question of the same `ask` follows its first one.
  const others = waitPlaces.filter((other) => asked.kind !== 'question' || other !== firstQuestion);
  await recordedWaits?.refuseOthers(place, called, ['', ...others]);
}

/**
 * `before`: what comes before the wait is opened for the first time, once nothing else is found on record in its place.
 *
 * @throws `wait_expired`, `wait_cancelled`, `replay_mismatch`
 */
export async function waitFor(
  run: StepRun,
  place: string,
  { kind, about, args, reason, expiresInMs }: Asked,
  before?: () => Promise<void>,
): Promise<WaitAnswer> {
  const { codec } = run.writer;
  const { step } = run.scheduled;
  const { digest } = await encodeWithDigest(codec, [kind, about, args, reason], kind);
  const known = await isAsked(run, place);
  if (!known) {
    await refuseOtherRecord(run, place, { kind, tool: about, reason, digest });
    await before?.();
    await recordInputs(run);
  }
  const answer = await run.waits.answerTo({
    id: await waitIdFor(codec, step, place),
    kind,
    step,
    tool: about,
    // A child is an effect itself: its end is found by that one's key.
    effectKey: await effectKeyFor(codec, step, kind === 'child' ? place.slice(0, place.lastIndexOf('/')) : place),
    args,
    reason,
    digest,
    expiresInMs,
  });
  // Of a child that ended at its limit of steps, and was extended: the step runs again, and nobody said anything.
  if (answer.decision === 'cancelled' || answer.decision === 'expired') {
    const { rareProgramErrors } = await onDemand();
    const wait = { kind, about: about || reason };
    if (answer.decision === 'cancelled') throw rareProgramErrors.make('wait_cancelled', wait);
    throw rareProgramErrors.make('wait_expired', { ...wait, afterMs: expiresInMs ?? 0 });
  }
  return answer;
}
