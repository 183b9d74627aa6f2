/** Who sends: inputs and cancels, each until it is acknowledged, some of them twice. */
import type { EngineThread } from '../../../src/engine/engine-thread.ts';
import { engineErrors } from '../../../src/engine/errors.ts';
import { rareEngineErrors } from '../../../src/engine/rare-errors.ts';
import { travelErrors } from '../../../src/engine/time-travel-errors.ts';
import type { GoBackOptions } from '../../../src/engine/time-travel-parts.ts';
import type { CheckpointCause } from '../../../src/model/checkpoint.ts';
import type { Extension, InboxPolicy } from '../../../src/model/inbox.ts';
import { checkKept } from '../oracles/kept.ts';
import { editAdds } from '../plan/interpret.ts';
import { type ForkAction, Forks } from './forks.ts';
import type { World } from './world.ts';

export type ClientAction = {
  readonly afterMs: number /** Once so many operations were begun. */;
  readonly atOperation?: number;
} & (
  | {
      readonly does: 'send';
      readonly input: string;
      readonly total?: number;
      readonly big?: string;
      readonly twice?: boolean;
      readonly policy?: InboxPolicy;
      /** The hint that it is there gets lost: whoever runs the thread finds it when it looks next. */
      readonly unheard?: boolean;
    }
  | { readonly does: 'signal'; readonly id: string; readonly event: string; readonly twice?: boolean }
  | { readonly does: 'extend'; readonly id: string; readonly limits: Extension; readonly twice?: boolean }
  /** Makes the state at the first input, or where the first going back led, the state again; results on record are given again. */
  | { readonly does: 'go_back'; readonly id: string; readonly again?: boolean; readonly twice?: boolean }
  /** Changes the state at the head; results on record are given again. */
  | { readonly does: 'edit'; readonly id: string; readonly twice?: boolean }
  /** The network goes away, and comes back. */
  | { readonly does: 'go_offline'; readonly forMs: number; readonly twice?: false }
  | { readonly does: 'cancel'; readonly id: string; readonly twice?: boolean }
  /** Makes a new thread of this one. */
  | ForkAction
  /** Takes away what nothing needs any more. */
  | { readonly does: 'compact'; readonly id: string; readonly keepCheckpoints: number; readonly twice?: boolean }
  /** Deletes the thread if it has ended. */
  | { readonly does: 'purge'; readonly id: string; readonly twice?: boolean }
);

type Tidying = Extract<ClientAction, { does: 'compact' | 'purge' }>;
type Durable = Exclude<ClientAction, Tidying | ForkAction | { does: 'go_offline' }>;

export class Client {
  /** Deduplication ids that were acknowledged, and not deleted since. */
  readonly acknowledged = new Set<string>();
  /** Whether somebody goes back, or edits the state. */
  travels = false;
  /** Whether threads are purged in this world, those of children too. */
  purges = false;
  readonly forks: Forks;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.forks = new Forks(world);
  }

  begin(actions: readonly ClientAction[]): void {
    this.travels = actions.some(({ does }) => does === 'go_back' || does === 'edit');
    this.purges = actions.some(({ does }) => does === 'purge');
    this.forks.isAny = actions.some(({ does }) => does === 'fork');
    for (const action of actions) {
      if (action.atOperation === undefined) this.#world.timeline.after(action.afterMs, () => this.act(action));
    }
  }

  act(action: ClientAction): void {
    if (action.does === 'go_offline') {
      this.#goOffline(action.forMs);
      return;
    }
    void this.#do(action);
    if (action.twice === true) void this.#do(action);
  }

  #do(action: Exclude<ClientAction, { does: 'go_offline' }>): Promise<void> {
    if (action.does === 'fork') return this.forks.make(action);
    return action.does === 'compact' || action.does === 'purge' ? this.#tidy(action) : this.#insist(action);
  }

  #goOffline(forMs: number): void {
    const { outside, timeline } = this.#world;
    outside.isOnline = false;
    outside.wasOffline = true;
    timeline.after(forMs, () => {
      outside.isOnline = true;
      for (const process of this.#world.processes) if (!process.life.isOver) process.kick();
    });
  }

  /** Retention at work, in whichever process there is. Whoever runs the thread meanwhile comes first, and it is left at that. */
  async #tidy(action: Tidying): Promise<void> {
    const world = this.#world;
    const error = await world.insist(`${action.does} ${action.id}`, (thread, process) =>
      process.between(async () => {
        world.counts.collections += 1;
        if (action.does === 'purge') await process.engine.purge({ doneDays: 0, failedDays: 0 });
        else await thread.compact({ keepCheckpoints: action.keepCheckpoints, eventDays: 0 });
      }),
    );
    if (error === undefined) await checkKept(world);
    const isExcused = world.watch.spoiled.size > 0 || world.counts.deletions > 0; // repaired first; deleted in between
    if (error !== undefined && !engineErrors.is(error, 'lease_lost') && !isExcused)
      world.findings.violate('retention-works', `${action.id} failed: ${String(error)}`);
  }

  async #insist(action: Durable): Promise<void> {
    const world = this.#world;
    const id = action.does === 'send' ? action.input : action.id;
    const isHeard = action.does !== 'send' || action.unheard !== true;
    let deletions = 0;
    const act = (thread: EngineThread): Promise<void> => {
      deletions = world.counts.deletions;
      if (action.does === 'cancel') return thread.cancel(id);
      if (action.does === 'go_back') return goBack(thread, action.again === true ? 'rolled_back' : 'input');
      if (action.does === 'edit') return edit(thread);
      if (action.does === 'signal') return thread.signal(action.event, id, id);
      if (action.does === 'extend') return thread.extend(action.limits, id);
      const { input, total, big, policy } = action;
      const update = { input, ...(total !== undefined && { total }), ...(big !== undefined && { big }) };
      return thread.send(update, id, policy);
    };
    const error = await world.insist(`${action.does} ${id}`, act, { isHeard });
    if (action.does === 'send' && action.policy === 'reject' && rareEngineErrors.is(error, 'thread_busy')) return;
    if (engineErrors.is(error, 'thread_unknown')) return; // nothing to cancel
    if (action.does === 'go_back' || action.does === 'edit') return; // what ran meanwhile may ask for choices of its own
    if (error !== undefined && world.counts.deletions > 0) {
      await world.timeline.wait(50); // deleted in between
      return this.#insist(action);
    }
    if (error !== undefined) return world.findings.violate('input-is-taken', `${id} was refused: ${String(error)}`);
    if (world.counts.deletions > deletions) return; // deleted just as it was acknowledged
    this.acknowledged.add(id);
    world.mustBeStored('inbox', `id:${id}`);
  }
}

async function goBack(thread: EngineThread, to: CheckpointCause): Promise<void> {
  const all = await thread.checkpoints({ limit: 100 });
  const target = all.findLast(({ cause }) => cause === to);
  if (target === undefined || target === all[0]) return;
  await withResults((options) => thread.rollBack(target.id, options));
}

function edit(thread: EngineThread): Promise<void> {
  return withResults((options) => thread.edit({ total: editAdds }, options));
}

/** What is on record is reused. */
async function withResults(leave: (options: GoBackOptions) => Promise<unknown>): Promise<void> {
  try {
    await leave({});
  } catch (error) {
    if (!travelErrors.is(error, 'choice_needed')) throw error;
    const { effects } = error.details;
    if (effects.some(({ status }) => status !== 'succeeded' && status !== 'failed')) return; // a doubt is for its own person
    await leave({ effects: Object.fromEntries(effects.map(({ key }) => [key, 'reuse'] as const)) });
  }
}
