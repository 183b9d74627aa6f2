/**
 * A child, from the call that starts it to its end. What it does it does on a thread of its own; for its parent it is an effect
 * of class `once` (PROTOCOL 3 and 4): the intent is durable before the child is made, its end is the recorded result, and going
 * back over it needs a choice as for any call. Making it is create-if-absent, so that it is never in doubt: it is found again.
 */
import type { EffectKey } from '../model/ids.ts';
import { type AnyAgent, childrenOf } from '../program/agent.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { checkInput } from '../program/state.ts';
import type { ChildArgs, ChildOutcome } from './children.ts';
import type { RecordedEffect } from './effect-request.ts';
import { effectKeyFor, waitIdFor } from './identity.ts';
import { recordIntent, recordOutcome } from './ledger-writes.ts';
import { giveRecorded } from './reuse.ts';
import { firstSettled, refuseOtherCall } from './step-ledger.ts';
import { encodeWithDigest, type StepRun } from './step-run.ts';
import { waitFor } from './wait-for.ts';

/** Children of children of … at most. */
const mostAncestors = 8;

export interface ChildEnd extends Omit<ChildOutcome, 'usage'> {
  readonly thread: string;
}

/** What is recorded: the end, and the thread that came to it. */
type RecordedEnd = ChildOutcome & { readonly thread: string };

/** @throws `child_unknown`, `children_too_deep`, `state_invalid`, `field_unknown`, `replay_mismatch` */
export async function childEnd(
  run: StepRun,
  agent: AnyAgent,
  name: string,
  input: object,
  place: string,
): Promise<ChildEnd> {
  refuseUnfit(run, agent, name, input);
  const { codec } = run.writer;
  const key = await effectKeyFor(codec, run.scheduled.step, place);
  const { digest } = await encodeWithDigest(codec, { ...input }, name);
  const effect: RecordedEffect = {
    request: { kind: 'child', name, effectClass: 'once' },
    key,
    askedDigest: digest,
  };
  const [first] = run.ledger.historyOf(key);
  if (first !== undefined) refuseOtherCall(first, first.intent.name, { kind: 'child', name, digest });
  else await reuse(run, effect);
  const known = await recordedEnd(run, key);
  run.waits.recall(await waitIdFor(codec, run.scheduled.step, `${place}/child`));
  const { usage, ...end } = known?.end ?? (await endOf(run, effect, { ...input }, place));
  if (known?.isReused) return end;
  run.tally.inputTokens += usage.inputTokens;
  run.tally.outputTokens += usage.outputTokens;
  run.tally.cost += usage.cost;
  return end;
}

function refuseUnfit(run: StepRun, agent: AnyAgent, name: string, input: object): void {
  const ancestors = [...(run.writer.codec.parent?.ancestors ?? []), agent.name];
  const child = childrenOf(agent).find((one) => one.name === name);
  if (child === undefined) {
    const known = childrenOf(agent).map((one) => `"${one.name}"`);
    throw rareProgramErrors.make('child_unknown', { agent: name, known: known.join(', ') || 'none' });
  }
  if (ancestors.length > mostAncestors) {
    const chain = [...ancestors, name].join(' > ');
    throw rareProgramErrors.make('children_too_deep', { chain, most: mostAncestors });
  }
  checkInput(child.state, input);
}

/** Whether going back on purpose left the end of such a child for this call; it is on record as this one's then. */
async function reuse(run: StepRun, effect: RecordedEffect): Promise<void> {
  const choices = run.writer.image.state?.checkpoint.control.past.choices ?? [];
  if (choices.some(({ choice }) => choice === 'reuse')) await giveRecorded(run, effect, choices);
}

async function recordedEnd(
  run: StepRun,
  key: EffectKey,
): Promise<{ readonly end: RecordedEnd; readonly isReused: boolean } | undefined> {
  const { outcome } = firstSettled(run.ledger.historyOf(key)) ?? {};
  if (outcome?.value == null) return undefined;
  const end = (await run.writer.codec.decodeValue(outcome.value)) as RecordedEnd;
  return { end, isReused: outcome.by === 'reuse' };
}

/** Starts the child, unless it was started before, and waits for its end. */
async function endOf(
  run: StepRun,
  effect: RecordedEffect,
  input: Readonly<Record<string, unknown>>,
  place: string,
): Promise<RecordedEnd> {
  const { codec } = run.writer;
  const { name } = effect.request;
  // The same on every run of the step, so that a second one finds the child that the first one made (PROTOCOL 1).
  const thread = `child-${await codec.sealer.hash('child', run.scheduled.step, place)}`;
  const args: ChildArgs = { thread, input };
  const asked = { kind: 'child', about: name, args, reason: `until ${name} has ended`, expiresInMs: null } as const;
  const entryOf = () => run.ledger.historyOf(effect.key)[0];
  if (entryOf() === undefined) run.checkBudget();
  const answer = await waitFor(run, `${place}/child`, asked, async () => {
    if (entryOf() === undefined) await recordIntent(run, effect, input, 1);
  });
  if (answer.decision !== 'ended') throw new Error(`Child ${name} was answered with ${answer.decision}.`);
  const end = { ...(answer.value as ChildOutcome), thread };
  // None where its record is lost: the wait holds the end, and an entry made now would pass for a new call of a step that runs again.
  const entry = entryOf();
  if (entry !== undefined) await recordOutcome(run, entry, { status: 'succeeded', value: end, by: 'call' });
  return end;
}
