/** What is to be seen of a thread: all of it read, nothing changed. */
import { readAgain } from '../codec/read-again.ts';
import type { Share } from '../codec/shares.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openThreadImage, type StateImage, type ThreadImage } from '../codec/thread-image.ts';
import { readAnswer, readWait } from '../codec/wait-codec.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import type { EffectInfo } from '../model/effect.ts';
import type { LoggedEvent } from '../model/event.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import type { QuarantinedRecord } from '../model/repair.ts';
import type { Wait } from '../model/wait.ts';
import { controlOf } from './control-of.ts';
import type { EventQuery } from './event-log.ts';
import { isPage, listCheckpoints, type Page } from './list-checkpoints.ts';
import { onDemand } from './load-on-demand.ts';
import { ThreadAccess } from './thread-access.ts';
import { type StateRecord, ThreadState } from './thread-state.ts';

/** `State`: that of the engine's agent. Threads of the children it starts have the states of their own agents. */
export abstract class ThreadViews<State extends object = StateRecord> extends ThreadAccess {
  /** Whether the thread is being run here. */
  protected abstract get isLive(): boolean;
  /** The state at the head that was read last: whoever shows a thread asks for several views of it. */
  #head: StateImage | null = null;

  /** The state at the head, or at a checkpoint. @throws `thread_unknown`, `checkpoint_unknown`, `record_damaged` */
  async state(checkpoint?: CheckpointId): Promise<State> {
    const { row, codec } = await this.opened();
    return readAgain(this.ports.store, row, async (now) => {
      const image =
        checkpoint === undefined
          ? (await this.#image(now, codec)).state
          : await (await onDemand()).imageAt(codec, this.id, checkpoint);
      return (await ThreadState.read(codec, this.options.agent, image)).values as State;
    });
  }

  /**
   * The newest checkpoints, newest first; `before` goes on from the last one of an earlier list. Each names its parent: where the
   * thread was taken back, they are a tree.
   *
   * @throws `limit_invalid`; `checkpoint_unknown` for a `before` that is no checkpoint's id
   */
  async checkpoints(page: Page = {}): Promise<readonly CheckpointInfo[]> {
    if (!isPage(page)) (await onDemand()).checkPage(this.id, page);
    return (await this.read(({ codec, row }) => listCheckpoints(codec, row, page))) ?? [];
  }

  /** The waits that nobody has answered yet. */
  async waits(): Promise<readonly Wait[]> {
    const open = await this.read(async ({ codec, row }) => {
      const { waits } = controlOf(await this.#image(row, codec), 0);
      return Promise.all(
        waits.map(async (id) => ((await readAnswer(codec, id)) === undefined ? readWait(codec, id) : undefined)),
      );
    });
    return (open ?? []).filter((wait) => wait !== undefined);
  }

  async #image(row: ThreadRow, codec: ThreadCodec): Promise<ThreadImage> {
    const image = await openThreadImage(codec, row, this.#head);
    this.#head = image.state;
    return image;
  }

  /** Every effect on record, oldest first, each attempt by itself; with the calls' ids (effect keys) and status (A2). */
  async effects(): Promise<readonly EffectInfo[]> {
    const { readEffects } = await onDemand();
    return (await this.readWhole(({ codec, row }) => readEffects(codec, row, this.isLive))) ?? [];
  }

  /** Records that were found damaged or missing, and what the thread goes on from without them; oldest mark first. */
  async quarantine(): Promise<readonly QuarantinedRecord[]> {
    const opened = await this.open();
    if (opened === undefined) return [];
    const { readMarks } = await onDemand();
    return readMarks(opened.codec);
  }

  /** The event log, oldest first, by commits. @throws `limit_invalid`; `checkpoint_unknown` for a `from` that is no event's id */
  async events(query: EventQuery = {}): Promise<readonly LoggedEvent[]> {
    const { checkEventQuery, readEvents } = await onDemand();
    checkEventQuery(this.id, query);
    return (await this.readWhole(({ codec, row }) => readEvents(codec, row, query))) ?? [];
  }

  /** The whole event log as JSON Lines, with the data that the events refer to. Each text is one line. */
  async *exportLog(): AsyncGenerator<string, void, undefined> {
    const { exportLog } = await onDemand();
    yield* exportLog((work) => this.readWhole(work));
  }

  /** Whom the thread is or was shared with; `none`: no more. */
  async shares(): Promise<readonly Share[]> {
    const { codec } = await this.opened('own');
    const { readShares } = await onDemand();
    return readShares(codec);
  }
}
