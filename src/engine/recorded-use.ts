/** Model use, that of children included, as the answers on record tell it. */
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { StepId } from '../model/ids.ts';
import { hiddenFields } from '../model/lines.ts';
import type { LanguageModel, ModelAnswer } from '../program/model.ts';
import { unseenUses } from './child-ends.ts';
import type { ChildOutcome } from './children.ts';
import { openLines } from './line-status.ts';
import { costOf } from './model-effect.ts';
import { hasEnded } from './plans.ts';
import { settles } from './step-ledger.ts';
import type { StepRun, Tally } from './step-run.ts';
import { standingAt } from './time-travel-standing.ts';

interface Models {
  readonly model?: LanguageModel | undefined;
  readonly models?: Readonly<Record<string, LanguageModel>>;
}

/** Of a step whose attempts were spent when the process that counted it died: its node is not run again. */
export async function countRecordedUse({ ledger, tally, writer }: StepRun, models: Models): Promise<void> {
  const { inputTokens, outputTokens, cost } = await useOf(writer.codec, ledger.entries, models);
  tally.inputTokens += inputTokens;
  tally.outputTokens += outputTokens;
  tally.cost += cost;
}

/** Of the steps that stand, and are about to be left: no commit holds it yet, and it was paid for. */
export async function standingUse(codec: ThreadCodec, image: ThreadImage, models: Models): Promise<Tally> {
  const total = { inputTokens: 0, outputTokens: 0, cost: 0 };
  for (const { inputTokens, outputTokens, cost } of (await standingUses(codec, image, models)).values()) {
    total.inputTokens += inputTokens;
    total.outputTokens += outputTokens;
    total.cost += cost;
  }
  return total;
}

/** By step. */
export async function standingUses(
  codec: ThreadCodec,
  { row, state }: ThreadImage,
  models: Models,
): Promise<ReadonlyMap<StepId, Tally>> {
  // What a step that failed had used was counted with its failure.
  if (state === null || hasEnded(state.checkpoint.control)) return new Map();
  const { lines, steps, from } = await standingAt(codec, state);
  // Where a policy has asked a person about a failed step, its use was counted with the question.
  const paths = new Map([...state.checkpoint.position.next, ...openLines(lines)].map(({ step, path }) => [step, path]));
  const isCounted = (path = '') => state.fields.has(hiddenFields.asked(path));
  const { entries } = await readLedger(codec, from, row.ledger);
  const uses = new Map<StepId, Tally>();
  for (const step of steps) {
    const own = entries.filter(({ intent }) => intent.step === step);
    if (own.length === 0 || isCounted(paths.get(step))) continue;
    const use = await useOf(codec, own, models);
    for (const { inputTokens, outputTokens, cost } of await unseenUses(codec, own)) {
      use.inputTokens += inputTokens;
      use.outputTokens += outputTokens;
      use.cost += cost;
    }
    uses.set(step, use);
  }
  return uses;
}

async function useOf(
  codec: ThreadCodec,
  entries: readonly LedgerEntry[],
  { model, models = {} }: Models,
): Promise<Tally> {
  const all = [model, ...Object.values(models)];
  const tally = { inputTokens: 0, outputTokens: 0, cost: 0 };
  const counted = new Set<string>();
  for (const entry of entries) {
    const { kind, name, key } = entry.intent;
    if ((kind !== 'model' && kind !== 'child') || !settles(entry) || counted.has(key)) continue;
    counted.add(key);
    if (entry.outcome?.value == null || entry.outcome.by === 'reuse') continue;
    const { usage } = (await codec.decodeValue(entry.outcome.value)) as ModelAnswer | ChildOutcome;
    const made = all.find((one) => one?.name === name);
    tally.inputTokens += usage.inputTokens;
    tally.outputTokens += usage.outputTokens;
    tally.cost += 'cost' in usage ? usage.cost : made === undefined ? 0 : costOf(made, usage);
  }
  return tally;
}
