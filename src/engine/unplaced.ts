/** Calls that are on record, and of which a repair cannot tell what they belong to (PROTOCOL 3 and 4). */
import { errorToData } from '../base/errors.ts';
import { readLedger } from '../codec/ledger-codec.ts';
import { isAbandoned } from '../model/past-entries.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { mustNotRepeat } from './calls-between.ts';
import type { KnownEffect } from './effect-request.ts';
import { recordLostCall } from './ledger-writes-rare.ts';
import type { StepRun } from './step-run.ts';
import { awaitsReplay } from './time-travel-standing.ts';

/**
 * A call that was made after a person went back or edited, of which a repair knows no more, stands in the ledger under the id of a
 * step that does not run again. One of the same tool that is not on record may be the same, whatever its arguments are now.
 */
export async function adoptUnplaced(run: StepRun, effect: KnownEffect, args: unknown): Promise<void> {
  const { codec, image } = run.writer;
  const { ledger, past } = image.state?.checkpoint.control ?? {};
  if (!ledger?.replay || past === undefined || run.ledger.historyOf(effect.key).length > 0) return;
  const { kind, name } = effect.request;
  const { entries } = await readLedger(codec, ledger.replay.after, ledger.replay.to);
  const like = entries.find((entry) => {
    const { intent } = entry;
    const isSame = intent.kind === kind && run.nowName(intent.name) === name && mustNotRepeat(entry);
    return (
      isSame && intent.step !== run.scheduled.step && awaitsReplay(ledger, intent) && !isAbandoned(past, intent.number)
    );
  });
  if (like === undefined) return;
  const reason = rareProgramErrors.make('call_unplaced', { name, entry: like.intent.number });
  await recordLostCall(run, effect, args, 1, errorToData(reason));
}
