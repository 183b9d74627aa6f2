import type { ThreadImage } from '../codec/thread-image.ts';
import type { Control } from '../model/checkpoint.ts';
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
export function ledgerHere({ row, control, state }: ThreadImage, ended?: StepRun) {
  const here = { count: row.ledger, digest: control.ledgerDigest };
  const { from = 0, replayTo = 0 } = state?.checkpoint.control.ledger ?? {};
  const reached = ended?.ledger.reached(from, replayTo) ?? from;
  return reached < replayTo ? { ...here, from: reached, replayTo } : { ...here, from: row.ledger, replayTo: 0 };
}

/** The same while the main line stands: its next step is scheduled only when its lines have ended. */
export function ledgerStays({ row, control }: ThreadImage, { ledger }: Pick<Control, 'ledger'>): Control['ledger'] {
  return { ...ledger, count: row.ledger, digest: control.ledgerDigest };
}
