/** Going back by itself: where a policy says so, and where new input takes a run back (PROTOCOL 4). Never asks for choices. */

import type { Random } from '../base/random.ts';
import { type Checkpoint, openCheckpoint } from '../codec/checkpoint-codec.ts';
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, type StateImage, type ThreadImage } from '../codec/thread-image.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { Past } from '../model/past.ts';
import { isAbandoned } from '../model/past-entries.ts';
import { type CallKind, isCallOf, mustNotRepeat } from './calls-between.ts';
import type { StepLedger } from './step-ledger.ts';
import { fieldsOn } from './time-travel-new-lineage.ts';
import { awaitsReplay, isPassedOver } from './time-travel-standing.ts';

/**
 * The checkpoint before the newest finished step of this run that made such a call. `undefined` where there is none, or where
 * an effect of class `once`, or one that is not known any more, lies in between.
 */
export async function checkpointBefore(
  codec: ThreadCodec,
  image: ThreadImage,
  kind: CallKind,
  failed: FailedStep,
): Promise<StateImage | undefined> {
  const run = await checkpointsOfRun(codec, image);
  const first = run.at(-1);
  if (first === undefined) return undefined;
  const { entries, lost } = await readLedger(codec, first.control.ledger.from, image.row.ledger);
  if (lost.length > 0) return undefined;
  for (const [index, checkpoint] of run.entries()) {
    const target = run[index + 1];
    const made = entries.filter(({ intent }) => intent.step === checkpoint.position.step);
    if (checkpoint.cause !== 'step' || target === undefined || !made.some((entry) => isCallOf(entry, kind))) continue;
    const steps = new Set(target.position.next.map(({ step }) => step));
    const until = failureOnRecord(image, failed) ?? Number.POSITIVE_INFINITY; // what came later came of this decision
    const isBetween = ({ intent }: LedgerEntry) =>
      intent.number < until && isPassedOver({ steps, ledger: target.control.ledger }, intent);
    const between = entries.filter(isBetween);
    if (target.position.next.length !== 1 || between.some(mustNotRepeat)) return undefined;
    return openStateImage(codec, target.id);
  }
  return undefined;
}

type FailedStep = Pick<StepLedger, 'nodeFailures'>;

/** The entry of the step's last failure, where that is one which a repair lets happen again. */
function failureOnRecord({ state }: ThreadImage, { nodeFailures }: FailedStep): number | undefined {
  const number = nodeFailures.at(-1)?.intent.number;
  const to = state?.checkpoint.control.ledger.replay?.to ?? 0;
  return number !== undefined && number <= to ? number : undefined;
}

/**
 * Whether an effect that no policy makes again, or one that is not known any more, awaits a step that a repair lets run again: a
 * step in a new lineage leads to others than that one. Not where the failure is on record itself: then so is what was decided about
 * it, and it leads where it led.
 */
export async function isRepairOutstanding(
  codec: ThreadCodec,
  image: ThreadImage,
  failed: FailedStep,
): Promise<boolean> {
  const { ledger, past } = image.state?.checkpoint.control ?? {};
  if (!ledger?.replay || past === undefined || failureOnRecord(image, failed) !== undefined) return false;
  const { entries, lost } = await readLedger(codec, ledger.replay.after, ledger.replay.to);
  const isOwn = (entry: LedgerEntry) => awaitsReplay(ledger, entry.intent) && !isAbandoned(past, entry.intent.number);
  return lost.length > 0 || entries.some((entry) => isOwn(entry) && mustNotRepeat(entry));
}

/** The lineage of the head, newest first, back to the input that began the run. */
async function checkpointsOfRun(codec: ThreadCodec, { state }: ThreadImage): Promise<readonly Checkpoint[]> {
  const run: Checkpoint[] = [];
  for (let next = state?.checkpoint; next !== undefined; ) {
    run.push(next);
    if (next.cause === 'input' || next.parent === null) break;
    const record = await codec.source.get('checkpoints', codec.thread, next.parent);
    next = record && (await openCheckpoint(codec, record));
  }
  return run.at(-1)?.cause === 'input' ? run : [];
}

/** What a commit is made from that goes back to this checkpoint, and what of the ledger it leaves behind. Choices stand. */
export function returnTo(
  { row }: ThreadImage,
  past: Past,
  target: StateImage,
  random: Random,
): { readonly onto: StateImage; readonly past: Past } {
  const after = target.checkpoint.control.ledger.count;
  const isLeft = row.ledger > after && !isAbandoned(past, row.ledger);
  return {
    onto: { ...target, fields: fieldsOn(target, random) },
    past: { ...past, abandoned: isLeft ? [...past.abandoned, { after, to: row.ledger }] : past.abandoned },
  };
}

/** The state where a run began. @throws `record_missing`, `record_damaged` */
export function stateAt(codec: ThreadCodec, checkpoint: CheckpointId): Promise<StateImage> {
  return openStateImage(codec, checkpoint);
}
