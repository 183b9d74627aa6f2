/**
 * Going back on purpose (PROTOCOL 4). Invariants:
 *
 * - Nothing is written before all choices are known; what is missing is named, and the run that is under way goes on.
 * - I2: the new lineage begins with one checkpoint, whose parent is the one gone back to; choices, closed waits and the new head
 *   are in the same group.
 * - The lease comes first (PROTOCOL 5): whoever ran the thread cannot commit behind the decision.
 */
import { randomId } from '../base/random.ts';
import { noChange, type StateChange } from '../codec/commit-builder.ts';
import { readAgain } from '../codec/read-again.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import { openThreadImage, type StateImage, type ThreadImage } from '../codec/thread-image.ts';
import { allWaits } from '../codec/wait-codec.ts';
import type { ThreadEvent } from '../model/event.ts';
import { type CheckpointId, checkpointIdFor } from '../model/ids.ts';
import type { StandingChoice } from '../model/past.ts';
import { checkChoices, checkOptions, checkReason } from '../program/option-checks.ts';
import { checkInput } from '../program/state.ts';
import { recordChildEnds } from './child-ends.ts';
import { Children } from './children.ts';
import { type ClosedWaits, closedWaits } from './closed-waits.ts';
import { commitMigration } from './commit-migration.ts';
import { engineErrors } from './errors.ts';
import { standingUse } from './recorded-use.ts';
import type { Tally } from './step-run.ts';
import { summaryOf } from './summary.ts';
import { ThreadState } from './thread-state.ts';
import { ThreadWriter } from './thread-writer.ts';
import { madeBefore } from './time-travel-again.ts';
import { type Chosen, checkedChoices } from './time-travel-choices.ts';
import { type PassedOver, passedOver } from './time-travel-crossed.ts';
import { travelErrors } from './time-travel-errors.ts';
import { controlOn, fieldsOn, newLineage, positionOn } from './time-travel-new-lineage.ts';
import {
  checkpointOf,
  type GoBackOptions,
  refuseNewer,
  type TravelParts,
  unknownCheckpoint,
} from './time-travel-parts.ts';
import { linesOn, type Standing, standingAt } from './time-travel-standing.ts';
import { compensateAll } from './time-travel-undo.ts';

/**
 * Makes the state at an earlier checkpoint the thread's state again, as a new checkpoint. Resolves with its id once it is
 * durable and what was to be undone is undone. The thread runs on by the next `run` if the checkpoint had a next step.
 *
 * @throws `checkpoint_unknown`, `already_there`, `choice_needed` (with the effects), `choice_unknown`, `choice_invalid`,
 * `agent_too_old`: nothing was changed. `compensation_failed`: it went back, and does not run before the rest is undone.
 */
export async function rollBack(
  parts: TravelParts,
  checkpoint: CheckpointId,
  options: GoBackOptions = {},
): Promise<CheckpointId> {
  checkOptions('rollBack(checkpoint, options)', options, ['effects', 'reason']);
  checkReason('rollBack(checkpoint, options)', options.reason);
  checkChoices('rollBack(checkpoint, options)', options.effects);
  const prepare = async (image: ThreadImage): Promise<Departure | CheckpointId> => {
    const { state } = image;
    if (state === null) throw unknownCheckpoint(parts, checkpoint);
    const target = await checkpointOf(parts, checkpoint);
    const made = await madeBefore(parts.codec, state, checkpoint, options);
    if (made !== undefined) return made;
    if (checkpoint === state.checkpoint.id) throw travelErrors.make('already_there', { thread: parts.id, checkpoint });
    return { cause: 'rolled_back', target, change: noChange };
  };
  return depart(parts, prepare, options);
}

/**
 * Changes the state at the head, through reducers and schemas as a step does. A step that is scheduled runs anew, with the new
 * state: waits of it are closed, and its recorded calls need a choice each, as in `rollBack`.
 *
 * @throws `thread_empty`, `field_unknown`, `state_invalid`, `value_not_storable`, and what `rollBack` throws: nothing was changed.
 */
export async function edit(parts: TravelParts, update: object, options: GoBackOptions = {}): Promise<CheckpointId> {
  const { agent } = parts.options;
  checkOptions('edit(update, options)', options, ['effects', 'reason']);
  checkReason('edit(update, options)', options.reason);
  checkChoices('edit(update, options)', options.effects);
  checkInput(agent.state, update);
  const prepare = async ({ state }: ThreadImage): Promise<Departure> => {
    if (state === null) throw travelErrors.make('thread_empty', { thread: parts.id });
    const applied = (await ThreadState.read(parts.codec, agent, state)).update(update);
    for (const [name, value] of [...applied.set, ...applied.append]) {
      await parts.codec.encodeValue(value, name, new BlobBatch()); // what cannot be kept is refused before anything stops
    }
    return { cause: 'edited', target: state, change: { ...applied, remove: [] } };
  };
  return depart(parts, prepare, options);
}

interface Departure {
  readonly cause: 'rolled_back' | 'edited';
  readonly target: StateImage;
  readonly change: StateChange;
}

async function depart(
  parts: TravelParts,
  prepare: (image: ThreadImage) => Promise<Departure | CheckpointId>,
  options: GoBackOptions,
): Promise<CheckpointId> {
  const { ports, codec, row } = parts;
  const first = await readAgain(ports.store, row, async (known) => {
    const now = await openThreadImage(codec, known);
    refuseNewer(parts, now.state);
    const departure = await prepare(now);
    if (typeof departure !== 'string') await choicesFor(parts, now, departure, options);
    return departure;
  });
  return parts.alone(async () => {
    const leased = await ports.store.takeLease(codec.thread, codec.incarnation);
    if (leased === undefined) throw engineErrors.make('lease_lost', { thread: parts.id, reason: 'it was deleted' });
    try {
      const writer = new ThreadWriter(ports, codec, await openThreadImage(codec, leased));
      const undo = { ...parts, signal: new AbortController().signal };
      const changed = Object.entries(options.effects ?? {}).filter(([, choice]) => choice !== 'compensate');
      await compensateAll(undo, writer, new Set(changed.map(([key]) => key))); // what an earlier time left undone
      // An edit goes on from the state as the agent has it now: else the other fields would pass for migrated.
      const isOld = writer.image.state?.checkpoint.stateVersion !== parts.options.agent.stateVersion;
      if (isOld && typeof first !== 'string' && first.cause === 'edited') {
        await commitMigration(ports, parts.options, writer);
      }
      const departure = await prepare(writer.image);
      if (typeof departure === 'string') return departure;
      const made = await commitLineage(parts, writer, departure, options);
      await compensateAll(undo, writer);
      return made;
    } finally {
      await ports.store.releaseLease(leased.thread, leased.incarnation, leased.epoch).catch(() => undefined); // as in a run
    }
  });
}

interface Decided {
  readonly made: readonly Chosen[];
  /** Those that stand from earlier times included. */
  readonly choices: readonly StandingChoice[];
  readonly over: PassedOver;
  readonly steps: Standing;
}

async function choicesFor(
  parts: TravelParts,
  image: ThreadImage,
  { target }: Departure,
  { effects = {} }: GoBackOptions,
): Promise<Decided> {
  const { codec, id, options } = parts;
  const steps = await standingAt(codec, target);
  const over = await passedOver(codec, image, target, steps, parts.isLive);
  const about = { thread: id, agent: options.agent, checkpoint: target.checkpoint.id };
  const optional = over.standing.map(({ effect }) => effect);
  const made = checkedChoices(about, over.effects, optional, effects);
  const kept = over.standing.filter(({ effect }) => made.every((chosen) => chosen.effect !== effect));
  const fresh = made.map(({ effect, choice }) => ({ entry: effect.number, choice }));
  return { made, choices: [...kept.map((one) => one.choice), ...fresh], over, steps };
}

/** An answer that comes in between is not overwritten: then the open waits are looked up again. */
async function commitLineage(
  parts: TravelParts,
  writer: ThreadWriter,
  departure: Departure,
  options: GoBackOptions,
): Promise<CheckpointId> {
  const decided = await choicesFor(parts, writer.image, departure, options);
  await recordChildEnds(parts, decided.made);
  const events = eventsOf(parts, writer.image, departure, decided.made, options);
  for (;;) {
    try {
      const { waits = [], inboxReplay = null } = writer.image.state?.checkpoint.control ?? {};
      // Steps behind a repair that had asked run under other ids from here on.
      const left = inboxReplay === null ? waits : await allWaits(parts.codec);
      const closed = await closedWaits(parts.codec, left, parts.ports.clock.nowMs());
      const used = await standingUse(parts.codec, writer.image, parts.options);
      const { state } = await writer.checkpoint((image) =>
        lineagePlan(parts, image, departure, { ...decided, used }, events, closed),
      );
      if (state === null) throw unknownCheckpoint(parts, departure.target.checkpoint.id);
      const children = new Children(parts.ports, parts.options);
      for (const wait of closed.children) await children.cancel(parts.codec, wait); // not before: its parent may still wait for it
      parts.emit({ type: 'step', step: summaryOf(state.checkpoint) });
      const { status, failure } = state.checkpoint.control;
      parts.emit({ type: 'status', status, failure });
      return state.checkpoint.id;
    } catch (error) {
      if (!engineErrors.is(error, 'wait_closed')) throw error;
    }
  }
}

async function lineagePlan(
  { ports: { random, clock, time }, options: { agent }, codec }: TravelParts,
  image: ThreadImage,
  { cause, target, change }: Departure,
  { choices, over: { left, undecided }, steps, used }: Decided & { readonly used: Tally },
  events: readonly ThreadEvent[],
  { records, taken }: ClosedWaits,
) {
  const head = image.state?.checkpoint.control ?? target.checkpoint.control;
  const lineage = newLineage(random);
  const nowMs = clock.nowMs();
  const sequence = image.row.sequence + 1;
  const input = head.inboxTaken;
  const { ms: sinceMs } = target.checkpoint.control.spent;
  const lines = await linesOn(codec, steps, { lineage, input, from: image.row.ledger, sinceMs });
  const fields = cause === 'edited' ? target.fields : fieldsOn(target, random);
  const spans = [...fields.values()].flatMap((field) => ('spans' in field ? field.spans.slice(-1) : []));
  return {
    id: checkpointIdFor(sequence, random),
    travel: { sequence, isLost: false },
    kind: 'snapshot',
    cause,
    change: { ...change, set: new Map([...change.set, ...lines]) },
    onto: { ...target, fields },
    position: await positionOn(codec, target.checkpoint, lineage, input),
    control: controlOn(image, head, target.checkpoint, {
      lineage,
      choices,
      left,
      undecided,
      taken,
      used,
      isToRun: steps.steps.size > 0,
      believedMs: time.nowMs(),
    }),
    agent: agent.name,
    agentVersion: agent.version,
    stateVersion: cause === 'edited' ? agent.stateVersion : target.checkpoint.stateVersion,
    atMs: nowMs,
    span: spans[0]?.span ?? randomId(random, 6),
    events,
    records,
    // Whoever looks after the thread next is to go on with what is to be undone, also where no step is to run.
    wakeUpAtMs: choices.some(({ choice }) => choice === 'compensate') ? nowMs : null,
    durability: 'strict',
  } as const;
}

function eventsOf(
  { ports: { clock } }: TravelParts,
  { state }: ThreadImage,
  { cause, target }: Departure,
  made: readonly Chosen[],
  { reason = '' }: GoBackOptions,
): readonly ThreadEvent[] {
  const atMs = clock.nowMs();
  const details = { to: target.checkpoint.id, from: state?.checkpoint.id ?? null, reason };
  return [
    { type: cause, atMs, details },
    ...made.map(({ effect: { key, name, number }, choice }): ThreadEvent => {
      return { type: 'effect_choice', atMs, details: { effect: key, name, entry: number, choice } };
    }),
  ];
}
