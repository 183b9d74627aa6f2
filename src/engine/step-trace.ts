import type { ThreadImage } from '../codec/thread-image.ts';
import type { Control, Replay } from '../model/checkpoint.ts';
import { isTravelLost } from './control-of.ts';
import type { StepRun } from './step-run.ts';

/** What a step saw of clock and chance after its last call: no entry of the ledger has it. */
export function traceOf({ scheduled, freshInputs }: StepRun) {
  const inputs = freshInputs.length === 0 ? {} : { inputs: JSON.stringify(freshInputs) };
  return { step: scheduled.step, ...inputs };
}

/**
 * The ledger as the next step finds it: its own entries come after this count. While steps are run again after a repair, those
 * of the next one are on record already, behind the entries of the step that ends.
 */
export function ledgerHere(image: ThreadImage, ended?: StepRun): Control['ledger'] {
  const { row, control, state } = image;
  const here = { count: row.ledger, digest: control.ledgerDigest };
  const { from = 0, replay = null } = state?.checkpoint.control.ledger ?? {};
  const isPlaced = !isTravelLost(image);
  const reached = replay === null ? from : (ended?.ledger.reached(from, replay.to, isPlaced) ?? from);
  if (replay === null || reached >= replay.to) return { ...here, from: row.ledger, replay: null };
  return { ...here, from: reached, replay: withDone(replay, ended) };
}

/** The same while the main line stands: its next step is scheduled only when its lines have ended. */
export function ledgerStays(
  { row, control }: ThreadImage,
  { ledger }: Pick<Control, 'ledger'>,
  ended?: StepRun,
): Control['ledger'] {
  const replay = ledger.replay && withDone(ledger.replay, ended);
  return { ...ledger, count: row.ledger, digest: control.ledgerDigest, replay };
}

function withDone(replay: Replay, ended: StepRun | undefined): Replay {
  return ended === undefined ? replay : { ...replay, done: [...replay.done, ended.scheduled.step] };
}
