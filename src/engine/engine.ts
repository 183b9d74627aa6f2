import { openRowControl } from '../codec/control-codec.ts';
import type { Frame } from '../model/frame.ts';
import { type ThreadHash, type ThreadId, threadIdProblem } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { defaultRetention, type RetentionPolicy } from '../model/retention.ts';
import { type AnyAgent, agentsByName } from '../program/agent.ts';
import { storeErrors } from '../store/errors.ts';
import { BelievedTime } from './believed-time.ts';
import { checkArchive, checkEngineOptions } from './check-options.ts';
import { checkRetention } from './check-retention.ts';
import { EngineThread } from './engine-thread.ts';
import { engineErrors } from './errors.ts';
import { isPage } from './list-checkpoints.ts';
import { onDemand } from './load-on-demand.ts';
import { ownRows } from './own-rows.ts';
import type { EngineOptions, EnginePorts, RunPorts } from './ports.ts';
import type { Purge } from './purge.ts';
import type { StateRecord } from './thread-state.ts';

/**
 * Runs the threads of one agent on one store. Holds nothing that is not in the store but what runs right now: an engine can
 * be thrown away at any moment and another goes on from what was committed.
 */
export class Engine<State extends object = StateRecord> {
  readonly #ports: RunPorts;
  readonly #options: EngineOptions;
  readonly #threads = new Map<ThreadId, EngineThread<State>>();
  readonly #agents: ReadonlyMap<string, AnyAgent>;

  constructor(ports: EnginePorts, options: EngineOptions) {
    this.#ports = { ...ports, time: new BelievedTime(ports.clock) };
    this.#options = options;
    checkEngineOptions(options);
    this.#agents = agentsByName(options.agent);
  }

  /** The thread of this id, new or known. @throws `thread_id_invalid` */
  thread(id: string): EngineThread<State> {
    const checked = checkedId(id);
    const known = this.#threads.get(checked);
    if (known !== undefined) return known;
    const emit = (frame: Frame) => this.#options.onFrame?.(checked, frame);
    const thread = new EngineThread<State>({
      ports: this.#ports,
      options: this.#options,
      agents: this.#agents,
      id: checked,
      emit,
    });
    this.#threads.set(checked, thread);
    return thread;
  }

  /**
   * The threads of this agent and owner, newest change first, with their ids opened. At most `limit` (default 1000).
   * `children`: those of the agents that it starts as well. @throws `limit_invalid`
   */
  async threads(limit = 1_000, { children = false } = {}): Promise<readonly ThreadEntry[]> {
    if (limit !== Infinity && !isPage({ limit })) (await onDemand()).checkPage('', { limit });
    const mine = await ownRows(this.#ports.store, this.#options, children ? this.#agents : undefined);
    const newest = mine.sort((a, b) => b.updatedAtMs - a.updatedAtMs).slice(0, limit);
    return Promise.all(newest.map((row) => this.#entry(row)));
  }

  /**
   * Deletes the threads of this agent and owner whose time is over: failed ones after `failedDays`, finished and cancelled ones
   * after `doneDays`, once `archive`, where there is one, has kept them. Call it where no thread runs: it takes their leases.
   *
   * @throws `retention_invalid`: nothing was deleted.
   */
  async purge(policy: Partial<RetentionPolicy> = {}, archive = this.#options.archive): Promise<Purge> {
    checkRetention(policy);
    checkArchive(archive);
    const { purgeThreads, ownAndChildren } = await onDemand();
    const all = await ownRows(this.#ports.store, this.#options, this.#agents);
    const rows = await ownAndChildren(this.#ports, all, this.#options.agent.name);
    return purgeThreads(this.#ports, rows, { ...defaultRetention, ...this.#options.retention, ...policy }, archive);
  }

  /**
   * The id of a thread of this agent and owner that is known by its hash; `undefined` if there is none, or it does not open.
   *
   * @throws `store_failed`, `timed_out`, …: the store could not say.
   */
  async idOf(hash: ThreadHash): Promise<ThreadId | undefined> {
    const { namespace = 'default', owner = 'local' } = this.#options;
    const row = await this.#ports.store.readThread(hash);
    const isMine =
      row !== undefined && this.#agents.has(row.agent) && row.namespace === namespace && row.owner === owner;
    if (!isMine) return undefined;
    const { id, error } = await this.#entry(row);
    if (storeErrors.is(error)) throw error;
    return id;
  }

  /** A thread whose row does not open is listed without its id, so that it does not hide the others. */
  async #entry(row: ThreadRow): Promise<ThreadEntry> {
    try {
      const codec = await this.#ports.keyRing.openThread(row.thread, row.incarnation);
      return { row, id: (await openRowControl(codec, row)).threadId, error: undefined };
    } catch (error) {
      return { row, id: undefined, error };
    }
  }
}

export interface ThreadEntry {
  readonly row: ThreadRow;
  readonly id: ThreadId | undefined;
  readonly error: unknown;
}

function checkedId(id: string): ThreadId {
  const problem = threadIdProblem(id);
  if (problem !== undefined) throw engineErrors.make('thread_id_invalid', { problem });
  return id as ThreadId;
}
