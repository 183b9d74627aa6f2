/** Who sends: inputs and cancels, each until it is acknowledged, some of them twice. */
import { engineErrors } from '../../../src/engine/errors.ts';
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
    }
  | { readonly does: 'cancel'; readonly id: string; readonly twice?: boolean }
);

export class Client {
  /** Deduplication ids that were acknowledged, and not deleted since. */
  readonly acknowledged = new Set<string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  begin(actions: readonly ClientAction[]): void {
    for (const action of actions) {
      if (action.atOperation === undefined) this.#world.timeline.after(action.afterMs, () => this.act(action));
    }
  }

  act(action: ClientAction): void {
    void this.#insist(action);
    if (action.twice === true) void this.#insist(action);
  }

  async #insist(action: ClientAction): Promise<void> {
    const world = this.#world;
    const id = action.does === 'send' ? action.input : action.id;
    const error = await world.insist(`${action.does} ${id}`, (thread) => {
      if (action.does === 'cancel') return thread.cancel(id);
      const { input, total, big } = action;
      return thread.send({ input, ...(total !== undefined && { total }), ...(big !== undefined && { big }) }, id);
    });
    if (engineErrors.is(error, 'thread_unknown')) return; // nothing to cancel
    if (error !== undefined && world.counts.deletions > 0) {
      await world.timeline.wait(50); // deleted in between
      return this.#insist(action);
    }
    if (error !== undefined) return world.findings.violate('input-is-taken', `${id} was refused: ${String(error)}`);
    this.acknowledged.add(id);
    world.mustBeStored('inbox', `id:${id}`);
  }
}
