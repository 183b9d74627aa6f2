/**
 * The only place from which a runner writes. Invariants:
 *
 * - I2, I4: one group for each commit, conditional on incarnation, epoch, head and ledger counter.
 * - I3: groups are built, sealed and only then given to the store.
 * - Writes that move the thread follow one another; an outcome waits for none of them and is never refused (PROTOCOL 3).
 * - What follows a write whose fate was not learned is planned only once that is known (PROTOCOL 2).
 */

import { randomId } from '../base/random.ts';
import { type BuiltGroup, buildCheckpoint, buildIntent, type CheckpointPlan } from '../codec/commit-builder.ts';
import type { StoredIntent } from '../codec/ledger-codec.ts';
import type { BlobBatch, ThreadCodec } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type {
  CommitGroup,
  Condition,
  Durability,
  GroupResult,
  OtherThread,
  RecordWrite,
  RowChange,
} from '../model/commit.ts';
import type { CommitId } from '../model/ids.ts';
import { storeErrors } from '../store/errors.ts';
import { engineErrors } from './errors.ts';
import { type FullDisk, give, giveUntilStored } from './give.ts';
import type { EnginePorts } from './ports.ts';

interface Planned extends BuiltGroup {
  readonly onApplied?: () => void;
}

export class ThreadWriter {
  readonly codec: ThreadCodec;
  readonly #ports: EnginePorts;
  #image: ThreadImage;
  #last: Promise<unknown> = Promise.resolve();
  readonly #full: FullDisk | undefined;
  /** The last group whose fate the store has not told: it may have been applied. */
  #unsettled: Planned | undefined;

  constructor(ports: EnginePorts, codec: ThreadCodec, image: ThreadImage, full?: FullDisk) {
    this.#ports = ports;
    this.#full = full;
    this.codec = codec;
    this.#image = image;
  }

  /** The thread after the last applied group. */
  get image(): ThreadImage {
    return this.#image;
  }

  /**
   * `onApplied` is called before anything else can be planned.
   *
   * @throws `lease_lost`, `value_not_storable`, store errors
   */
  checkpoint(
    plan: (image: ThreadImage) => CheckpointPlan | Promise<CheckpointPlan>,
    onApplied: () => void = () => undefined,
  ): Promise<ThreadImage> {
    return this.#inTurn(async () => {
      const built = await buildCheckpoint(this.codec, this.#image, await plan(this.#image));
      return this.#apply({ ...built, onApplied });
    });
  }

  /** Writes the next entry of the ledger. Resolves with it once it is durable. */
  intent(
    make: (number: number) => StoredIntent,
    options: {
      durability: Durability;
      blobs: BlobBatch;
      records?: (number: number) => Promise<readonly RecordWrite[]>;
      /** Called in the same turn if the entry could not be written. */
      giveBack?: (intent: StoredIntent) => void;
    },
  ): Promise<{ readonly intent: StoredIntent; readonly commit: CommitId }> {
    return this.#inTurn(async () => {
      const intent = make(this.#image.row.ledger + 1);
      const id = randomId(this.#ports.random) as CommitId;
      try {
        const records = (await options.records?.(intent.number)) ?? [];
        await this.#apply(await buildIntent(this.codec, this.#image, intent, { ...options, id, records }));
      } catch (error) {
        options.giveBack?.(intent);
        throw error;
      }
      return { intent, commit: id };
    });
  }

  /**
   * Sets when the thread wants to be woken, and what of its inbox gives nothing to do: asked for in its turn, so that no write
   * in between is overlooked. Outside of what is sealed, so that it needs no checkpoint.
   */
  touch(make: () => Promise<Pick<RowChange, 'wakeUpAtMs' | 'inboxTaken'>>): Promise<ThreadImage> {
    return this.#inTurn(async () => {
      const change = await make();
      const { row } = this.#image;
      const group: CommitGroup = {
        id: randomId(this.#ports.random) as CommitId,
        thread: row.thread,
        incarnation: row.incarnation,
        durability: 'relaxed',
        conditions: [
          { kind: 'epoch', is: row.epoch },
          { kind: 'head', is: row.head },
        ],
        records: [],
        row: change,
      };
      return this.#apply({ group, image: { ...this.#image, row: { ...row, ...change } } });
    });
  }

  /**
   * Writes records beside the thread, whatever its epoch and head are now: results, and answers to waits, which have a slot of
   * their own (PROTOCOL 3 and 6). Returns what became of them. `instead`: what is written while the disk is full, if that fits.
   */
  async evidence(
    records: readonly RecordWrite[],
    conditions: readonly Condition[],
    {
      durability = 'strict',
      instead,
    }: { readonly durability?: Durability; readonly instead?: () => Promise<readonly RecordWrite[]> } = {},
  ): Promise<GroupResult> {
    const { thread, incarnation } = this.#image.row;
    const group = (written: readonly RecordWrite[]): CommitGroup => ({
      id: randomId(this.#ports.random) as CommitId,
      thread,
      incarnation,
      durability,
      conditions,
      records: written,
    });
    const whileFull = instead && (async () => this.#ports.store.commit([group(await instead())]));
    return this.#give(group(records), whileFull);
  }

  /** The thread once nothing is under way, nor of unknown fate: only then does its row count all that the ledger holds. @throws store errors */
  known(): Promise<ThreadImage> {
    return this.#inTurn(async () => this.#image);
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(async () => {
      // The same group again: the store knows it by its id. Without this, its own write would look like another runner's.
      if (this.#unsettled !== undefined) await this.#apply(this.#unsettled);
      return work();
    });
    this.#last = turn.catch(() => undefined); // the caller hears of it through `turn`
    return turn;
  }

  async #apply(planned: Planned): Promise<ThreadImage> {
    const { group, image } = planned;
    this.#unsettled = planned;
    let result = await this.#give(group);
    if (group.also !== undefined && isAboutOther(result, group.also)) {
      const { also: _, ...alone } = group; // nobody waits any more: the end is this thread's own
      result = await this.#give(alone);
    }
    this.#unsettled = undefined;
    if (result.status !== 'applied') throw this.#refused(result);
    this.#image = image;
    planned.onApplied?.();
    return image;
  }

  #give(group: CommitGroup, instead?: () => Promise<unknown>): Promise<GroupResult> {
    const full = this.#full;
    return full === undefined ? give(this.#ports, group) : giveUntilStored(this.#ports, group, full, instead);
  }

  #refused(result: GroupResult): Error {
    const thread = this.#image.control.threadId;
    if (result.status === 'missing') {
      return storeErrors.make('store_failed', { operation: 'commit', reason: `${result.table}/${result.key} is gone` });
    }
    if (result.status === 'exists' && result.table === 'waits') {
      return engineErrors.make('wait_closed', { wait: result.key, winner: 'another answer' });
    }
    if (result.status === 'exists') {
      // Epoch and head are as this runner left them: nobody took over, the row was put back.
      const reason = `${result.table}/${result.key} is there, and the thread's row is older`;
      return storeErrors.make('store_failed', { operation: 'commit', reason });
    }
    return engineErrors.make('lease_lost', { thread, reason: result.status });
  }
}

function isAboutOther(result: GroupResult, { incarnation, conditions }: OtherThread): boolean {
  if (result.status === 'gone') return result.incarnation === incarnation;
  return conditions.some(
    ({ kind, ...is }) =>
      kind === 'wait_open' && result.status === 'wait_closed' && 'wait' in is && is.wait === result.wait,
  );
}
