/** A wait of a step, from its question to its answer (B9): what every kind of wait has in common. */
import type { EffectKey } from '../model/ids.ts';
import type { WaitAnswer, WaitKind } from '../model/wait.ts';
import { programErrors } from '../program/errors.ts';
import { effectKeyFor, waitIdFor } from './identity.ts';
import { recordInputs } from './ledger-writes.ts';
import { encodeWithDigest, type StepRun } from './step-run.ts';

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

/** @throws `wait_expired` */
export async function waitFor(
  run: StepRun,
  place: string,
  { kind, about, args, reason, expiresInMs }: Asked,
): Promise<WaitAnswer> {
  const { codec } = run.writer;
  const { step } = run.scheduled;
  const { digest } = await encodeWithDigest(codec, [kind, about, args, reason], kind);
  const known = await isAsked(run, place);
  if (!known) await recordInputs(run);
  const answer = await run.waits.answerTo({
    id: await waitIdFor(codec, step, place),
    kind,
    step,
    tool: about,
    effectKey: (await effectKeyFor(codec, step, place)) as EffectKey,
    args,
    reason,
    digest,
    expiresInMs,
  });
  if (answer.decision === 'expired') {
    throw programErrors.make('wait_expired', { kind, about: about || reason, afterMs: expiresInMs ?? 0 });
  }
  return answer;
}
