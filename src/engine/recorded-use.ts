/**
 * Model use, that of its children included, of a step whose attempts were spent when the process that counted it died: its node is not run again, so it is
 * counted by the answers that are on record.
 */
import type { LanguageModel, ModelAnswer } from '../program/model.ts';
import type { ChildOutcome } from './children.ts';
import { costOf } from './model-effect.ts';
import { firstSettled } from './step-ledger.ts';
import type { StepRun } from './step-run.ts';

export async function countRecordedUse(run: StepRun, models: readonly (LanguageModel | undefined)[]): Promise<void> {
  const { ledger, tally, writer } = run;
  for (const key of new Set(ledger.entries.map(({ intent }) => intent.key))) {
    const entry = firstSettled(ledger.historyOf(key));
    if (entry?.outcome?.value == null || entry.outcome.by === 'reuse') continue;
    const { kind, name } = entry.intent;
    if (kind !== 'model' && kind !== 'child') continue;
    const { usage } = (await writer.codec.decodeValue(entry.outcome.value)) as ModelAnswer | ChildOutcome;
    const model = models.find((one) => one?.name === name);
    tally.inputTokens += usage.inputTokens;
    tally.outputTokens += usage.outputTokens;
    tally.cost += 'cost' in usage ? usage.cost : model === undefined ? 0 : costOf(model, usage);
  }
}
