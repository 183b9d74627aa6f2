import { HoldfastError } from '../base/errors.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import type { EffectInfo } from '../model/effect.ts';
import type { LoggedEvent } from '../model/event.ts';
import type { FieldDiff } from '../model/field-diff.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { Extension, InboxPolicy } from '../model/inbox.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import type {
  CheckpointQuery,
  GoBack,
  Inspected,
  StreamMessage,
  ThreadSummary,
  ThreadView,
} from '../protocol/host-api.ts';
import { Connection, type ConnectOptions, type WorkerSource } from './connection.ts';
import { streamOf } from './stream.ts';
import type { AgentType, PageInput, PageState, PageWait, QuestionWait } from './types.ts';

/**
 * Connects a page to the worker that serves an agent. The types come from the agent alone:
 * `connect<typeof agent>(new Worker(…))`, with `import type`.
 */
export function connect<A extends AgentType>(source: WorkerSource, options: ConnectOptions = {}): AgentClient<A> {
  checkNames('connect(worker, options)', options, ['startTimeoutMs', 'callTimeoutMs']);
  const connection = new Connection(source, options);
  connection.start(); // threads that were running go on, also if the page asks for nothing
  return {
    thread: (id) => threadClient<A>(connection, id),
    threads: () => connection.call((remote) => remote.threads()),
    close: () => connection.close(),
  };
}

export interface AgentClient<A extends AgentType> {
  /** The thread of this id, new or known: nothing is asked of the worker yet. */
  thread(id: string): ThreadClient<A>;
  /** All threads of this agent, newest change first. */
  threads(): Promise<readonly ThreadSummary[]>;
  /**
   * Stops the runs and ends the worker. Threads go on when it is opened again; a call that was cut off is settled then, as its
   * effect class says.
   */
  close(): Promise<void>;
}

export interface ThreadClient<A extends AgentType> {
  readonly id: string;
  /**
   * Gives the thread an input and lets it run. Durable once it resolves. The same `dedupId` again changes nothing.
   *
   * @throws `field_unknown`, `state_invalid`, `value_not_storable`, `thread_busy`: nothing was kept. `worker_gone`: not known; send again
   * with the same `dedupId`.
   */
  send(
    input: PageInput<A>,
    options?: {
      readonly dedupId?: string;
      /** What the input does to a run that is under way. Default `queue`. */
      readonly policy?: InboxPolicy;
    },
  ): Promise<void>;
  /** Tells the thread of an event that a node waits for, or will. Durable once it resolves. */
  signal(event: string, value?: unknown, options?: { readonly dedupId?: string }): Promise<void>;
  /** Raises limits of the run; one that had reached them goes on. @throws `extension_invalid` */
  extend(limits: Extension): Promise<void>;
  /** The live stream: the whole view first, then steps, tokens, waits … as they come. Break to stop. */
  events(): AsyncGenerator<StreamMessage, void, undefined>;
  /** The thread at a glance; `null` if there is none yet. */
  view(): Promise<ThreadView | null>;
  /** The state at the head, or at a checkpoint. @throws `thread_unknown`, `checkpoint_unknown` */
  state(checkpoint?: CheckpointId): Promise<PageState<A>>;
  /** The newest checkpoints, newest first. */
  checkpoints(query?: CheckpointQuery): Promise<readonly CheckpointInfo[]>;
  /** Every effect on record with its status, oldest first. */
  effects(): Promise<readonly EffectInfo[]>;
  /** Calls that wait for a person. An answer is durable once its promise resolves; the first one wins. */
  waits(): Promise<readonly PageWait<A>[]>;
  /** What nodes ask a person. All that a thread waits for, timers and events too, is in its `view`. */
  questions(): Promise<readonly QuestionWait[]>;
  /** A checkpoint with its state, its events and its forks. @throws `checkpoint_unknown` */
  inspect(checkpoint: CheckpointId): Promise<Inspected>;
  /** What differs between two checkpoints, or a checkpoint and a state. @throws `checkpoint_unknown` */
  diff(before: CheckpointId | object, after: CheckpointId | object): Promise<readonly FieldDiff[]>;
  /**
   * Makes the state at an earlier checkpoint the state again, durably; the run goes on from there. Effects that are passed over
   * need a choice each. @throws `choice_needed` (with the effects), `checkpoint_unknown`, `already_there`: nothing was changed
   */
  rollBack(checkpoint: CheckpointId, options?: GoBack): Promise<CheckpointId>;
  /** Changes the state at the head, through reducers and schemas. @throws as `rollBack` */
  edit(update: PageInput<A>, options?: GoBack): Promise<CheckpointId>;
  /** A new thread from a checkpoint of this one, with a state that may be edited. @throws as `rollBack` */
  fork(
    checkpoint: CheckpointId,
    options?: GoBack & { readonly id?: string; readonly edit?: PageInput<A> },
  ): Promise<ThreadClient<A>>;
  /** The event log: who did what, when, and how it ended. */
  log(query?: { readonly from?: CheckpointId; readonly limit?: number }): Promise<readonly LoggedEvent[]>;
  /** The whole event log as JSON Lines, with the data that the events refer to. */
  exportLog(): Promise<string>;
  /** Asks the run to stop. Durable once it resolves; what was done is kept. */
  cancel(): Promise<void>;
  /** Goes on with a thread whose worker ended, where `serve` was told not to do that by itself. */
  resume(): Promise<void>;
}

function threadClient<A extends AgentType>(connection: Connection, id: string): ThreadClient<A> {
  return {
    id,
    async send(input, options = {}) {
      checkNames('send(input, options)', options, ['dedupId', 'policy']);
      const { dedupId = freshId(), policy = 'queue' } = options;
      await connection.call((remote) => remote.send(id, input, dedupId, policy));
    },
    async signal(event, value, options = {}) {
      checkNames('signal(event, value, options)', options, ['dedupId']);
      const { dedupId = freshId() } = options;
      await connection.call((remote) => remote.signal(id, event, value, dedupId));
    },
    extend: (limits) => connection.call((remote) => remote.extend(id, limits, freshId())),
    events: () => streamOf(connection, id),
    view: () => connection.call((remote) => remote.view(id)),
    state: (checkpoint) => connection.call((remote) => remote.state(id, checkpoint ?? null)) as Promise<PageState<A>>,
    checkpoints: (query = {}) => connection.call((remote) => remote.checkpoints(id, query)),
    effects: () => connection.call((remote) => remote.effects(id)),
    async waits() {
      const view = await connection.call((remote) => remote.view(id));
      const calls = (view?.waits ?? []).filter(({ kind }) => kind === 'approval' || kind === 'in_doubt');
      return calls.map((wait) => waitClient<A>(connection, id, wait));
    },
    async questions() {
      const view = await connection.call((remote) => remote.view(id));
      const asked = (view?.waits ?? []).filter(({ kind }) => kind === 'question');
      return asked.map((wait) => questionClient(connection, id, wait));
    },
    inspect: (checkpoint) => connection.call((remote) => remote.inspect(id, checkpoint)),
    diff: (before, after) => connection.call((remote) => remote.diff(id, before, after)),
    rollBack: (checkpoint, options = {}) => connection.call((remote) => remote.rollBack(id, checkpoint, options)),
    edit: (update, options = {}) => connection.call((remote) => remote.edit(id, update, options)),
    async fork(checkpoint, given = {}) {
      checkNames('fork(checkpoint, options)', given, ['id', 'edit', 'effects', 'reason']);
      const { id: to = freshId(), ...options } = given;
      await connection.call((remote) => remote.fork(id, checkpoint, to, options));
      return threadClient<A>(connection, to);
    },
    log: (query = {}) => connection.call((remote) => remote.events(id, query)),
    exportLog: () => connection.call((remote) => remote.exportLog(id)),
    cancel: () => connection.call((remote) => remote.cancel(id, freshId())),
    resume: () => connection.call((remote) => remote.resume(id)),
  };
}

function waitClient<A extends AgentType>(connection: Connection, thread: string, wait: Wait): PageWait<A> {
  const answer = (given: WaitAnswer) => connection.call((remote) => remote.answer(thread, wait.id, wait.digest, given));
  const client = {
    ...wait,
    allow: (options: { args?: unknown; forThread?: boolean } = {}) => answer({ decision: 'allow', ...options }),
    deny: (reason = '') => answer({ decision: 'deny', reason }),
    done: (result?: unknown) => answer({ decision: 'done', result }),
    notDone: () => answer({ decision: 'not_done' }),
    giveUp: () => answer({ decision: 'give_up' }),
  };
  return client as unknown as PageWait<A>; // its tool is one of the agent's
}

function questionClient(connection: Connection, thread: string, wait: Wait): QuestionWait {
  const answer = (given: WaitAnswer) => connection.call((remote) => remote.answer(thread, wait.id, wait.digest, given));
  return {
    ...wait,
    kind: 'question',
    reply: (value) => answer({ decision: 'reply', ...(value !== undefined && { value }) }),
    deny: (reason = '') => answer({ decision: 'deny', reason }),
  };
}

/** What passed for no option could do things twice: a text where `{ dedupId }` belongs. @throws `option_invalid` */
function checkNames(call: string, options: unknown, known: readonly string[]): void {
  const isObject = typeof options === 'object' && options !== null;
  const option = isObject ? Object.keys(options).find((name) => !known.includes(name)) : String(options);
  if (option === undefined) return;
  const problem = `${call} has the options ${known.join(' and ')}`;
  throw new HoldfastError('option_invalid', `"${option}" cannot be used: ${problem}. Nothing was kept.`, {
    option,
    problem,
  });
}

function freshId(): string {
  return crypto.randomUUID();
}
