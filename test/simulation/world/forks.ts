/** Who makes new threads of the thread: chooses a checkpoint once, and asks for that fork until it is acknowledged. */
import type { EngineThread } from '../../../src/engine/engine-thread.ts';
import { engineErrors } from '../../../src/engine/errors.ts';
import { rareEngineErrors } from '../../../src/engine/rare-errors.ts';
import { travelErrors } from '../../../src/engine/time-travel-errors.ts';
import type { CheckpointId, ThreadHash } from '../../../src/model/ids.ts';
import type { EffectChoice } from '../../../src/model/past.ts';
import { editAdds } from '../plan/interpret.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** By then newer code is back where older code took over. */
const newerAfterMs = 6_000;

export interface ForkAction {
  readonly does: 'fork';
  /** That of the new thread. */
  readonly id: string;
  /** So many checkpoints before the head. */
  readonly back: number;
  /** What is to become of calls with a result; what has none is made again. */
  readonly choice: 'reuse' | 'redo';
  /** Whether the fork begins with an edited state. */
  readonly edits?: boolean;
  readonly twice?: boolean;
}

/** A fork as it was asked for first. Whoever asks again asks for the same. */
export interface AskedFork {
  readonly action: ForkAction;
  readonly thread: ThreadHash;
  readonly target: CheckpointId;
  readonly effects: Record<string, EffectChoice>;
  /** Keys that each request which may have made the fork asked to reuse. */
  readonly asked: Set<ReadonlySet<string>>;
  isAcknowledged: boolean;
}

export class Forks {
  /** Whether anybody forks in this world. */
  isAny = false;
  readonly asked = new Map<string, AskedFork>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async make(action: ForkAction): Promise<void> {
    const world = this.#world;
    let isOld = false;
    const act = (thread: EngineThread, process: Process) => {
      isOld = world.isOld(process);
      return this.#ask(action, thread, process);
    };
    const error = await world.insist(`fork ${action.id}`, act, { isHeard: false });
    if (rareEngineErrors.is(error, 'agent_too_old') && isOld) {
      await world.timeline.wait(newerAfterMs);
      return this.make(action);
    }
    if (error === undefined || this.#isExcused(error)) return;
    world.findings.violate('a-fork-is-made', `"${action.id}" was refused: ${String(error)}`);
  }

  async #ask(action: ForkAction, thread: EngineThread, process: Process): Promise<void> {
    const { id, edits = false } = action;
    const asked = this.asked.get(id) ?? (await this.#begin(action, thread, process));
    if (asked === undefined) return; // nothing to fork yet
    const { target, effects } = asked;
    this.#meetHalfMade(asked);
    for (let isFirst = true; ; ) {
      const reused = new Set(Object.keys(effects).filter((key) => effects[key] === 'reuse'));
      if (!asked.isAcknowledged) asked.asked.add(reused);
      try {
        await thread.fork(target, { id, effects: { ...effects }, ...(edits && { edit: { total: editAdds } }) });
        this.#acknowledge(asked);
        process.kick(id);
        return;
      } catch (error) {
        if (rareEngineErrors.is(error, 'agent_too_old')) asked.asked.delete(reused);
        if (!travelErrors.is(error)) throw error;
        if (travelErrors.is(error, 'fork_differs') && isAskedOtherwise(asked, reused)) {
          asked.asked.delete(reused);
          return;
        }
        const isInterrupted = travelErrors.is(error, 'fork_interrupted');
        if (!heeds(asked, error) && !(isInterrupted && isFirst)) throw error;
        if (isInterrupted) isFirst = false;
        asked.asked.delete(reused);
      }
    }
  }

  async #begin(action: ForkAction, thread: EngineThread, process: Process): Promise<AskedFork | undefined> {
    const all = await thread.checkpoints({ limit: action.back + 1 });
    const target = all.at(-1)?.id;
    const hash = await process.engine.thread(action.id).hash();
    const known = this.asked.get(action.id); // somebody else asked meanwhile
    if (known !== undefined || target === undefined) return known;
    const asked = {
      action,
      thread: hash,
      target,
      effects: {},
      asked: new Set<ReadonlySet<string>>(),
      isAcknowledged: false,
    };
    this.asked.set(action.id, asked);
    return asked;
  }

  /** I1: what was acknowledged is there. */
  #acknowledge(asked: AskedFork): void {
    const { watches, findings } = this.#world;
    asked.isAcknowledged = true;
    const made = watches.forks.findLast(({ thread }) => thread === asked.thread);
    if (made?.row !== undefined || made?.isPurged === true) return;
    findings.violate(
      'acknowledged-is-durable',
      `The fork "${asked.action.id}" was acknowledged, and is no thread (I1).`,
    );
  }

  /** A pin without a thread is what is left of one who died while making the fork. */
  #meetHalfMade({ thread, target }: AskedFork): void {
    const { data, watch, met } = this.#world;
    const { hash } = watch;
    if (hash === undefined || data.threads.has(thread)) return;
    if (data.records('checkpoints', hash).get(`${target}.pin.${thread}`) !== undefined) {
      met.add('a half-made fork that is made again');
    }
  }

  /** What it was to be made from is gone, or is damaged. */
  #isExcused(error: unknown): boolean {
    const { counts, watch, data } = this.#world;
    if (watch.spoiled.size > 0 || watch.hasLosses || counts.deletions > 0) return true;
    if (!engineErrors.is(error, 'checkpoint_unknown') || watch.hash === undefined) return false;
    // Collected, or lost with the power, before it was pinned.
    return data
      .records('checkpoints', watch.hash)
      .range({ from: error.details.checkpoint, limit: 1 })
      .every(({ key }) => !key.startsWith(error.details.checkpoint));
  }
}

/** It was begun, or made by another who asked, with other results of its source: there may be more or fewer of them since. */
function isAskedOtherwise({ asked }: AskedFork, reused: ReadonlySet<string>): boolean {
  return [...asked].some((other) => other.size !== reused.size || [...other].some((key) => !reused.has(key)));
}

/** Does what the refusal says. False where it says nothing of choices. */
function heeds({ effects, action }: AskedFork, error: unknown): boolean {
  if (travelErrors.is(error, 'choice_needed')) {
    for (const { key, status } of error.details.effects) {
      effects[key] = status === 'in_doubt' || status === 'in_progress' ? 'redo' : action.choice;
    }
    return true;
  }
  if (travelErrors.is(error, 'choice_invalid')) effects[error.details.effect] = 'redo';
  else if (travelErrors.is(error, 'choice_unknown'))
    delete effects[error.details.effect]; // it is known not to have happened
  else return false;
  return true;
}
