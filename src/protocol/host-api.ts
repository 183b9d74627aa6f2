/** What a page may ask of the worker: plain data in, plain data out. Errors come back as data, so that nothing is lost. */
import type { ErrorData } from '../base/errors.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import type { EffectInfo } from '../model/effect.ts';
import type { LoggedEvent, ThreadEvent } from '../model/event.ts';
import type { FieldDiff } from '../model/field-diff.ts';
import type { Frame, StepSummary } from '../model/frame.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { Extension, InboxPolicy } from '../model/inbox.ts';
import type { EffectChoice } from '../model/past.ts';
import type { ThreadStatus } from '../model/records.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';

/** Raised with every change that an older page or worker would misread. */
export const protocolVersion = 2;

export type Reply<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ErrorData };

export interface Hello {
  readonly protocol: number;
  readonly agent: string;
  readonly version: number;
  /** A lock that the worker holds as long as it lives. */
  readonly lifeLock: string;
}

/** A thread at a glance. */
export interface ThreadView {
  readonly id: string;
  readonly status: ThreadStatus;
  readonly failure: ErrorData | null;
  /** Why it cannot go on as things are; its records are untouched. */
  readonly blocked: ErrorData | null;
  readonly waits: readonly Wait[];
  /** The newest steps, oldest first. */
  readonly steps: readonly StepSummary[];
  readonly resumes: number;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly updatedAtMs: number;
}

export interface ThreadSummary {
  /** `null` where its key is missing or its row is damaged: see `error`. */
  readonly id: string | null;
  readonly status: ThreadStatus;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly error: ErrorData | null;
}

/** What going back is told: what becomes of each effect that is passed over, by its key; and why. */
export interface GoBack {
  readonly effects?: Readonly<Record<string, EffectChoice>>;
  readonly reason?: string;
}

/** A checkpoint with its state, its events, and the threads that were forked from it. */
export interface Inspected {
  readonly info: CheckpointInfo;
  readonly state: Readonly<Record<string, unknown>>;
  readonly events: readonly ThreadEvent[];
  readonly forks: readonly (string | null)[];
}

/** A message of a watched thread: the whole view first, then what happens. */
export type StreamMessage = { readonly type: 'view'; readonly view: ThreadView } | Frame;

export interface CheckpointQuery {
  readonly limit?: number;
  readonly before?: CheckpointId;
}

/** The worker's functions. Each resolves when what it did is durable. */
export interface HostMethods {
  hello(): Hello | Promise<Hello>;
  threads(): Promise<readonly ThreadSummary[]>;
  send(thread: string, update: object, dedupId: string, policy?: InboxPolicy): Promise<void>;
  signal(thread: string, event: string, value: unknown, dedupId: string): Promise<void>;
  extend(thread: string, limits: Extension, dedupId: string): Promise<void>;
  cancel(thread: string, dedupId: string): Promise<void>;
  answer(thread: string, wait: string, digest: string, answer: WaitAnswer): Promise<void>;
  view(thread: string): Promise<ThreadView | null>;
  state(thread: string, checkpoint: CheckpointId | null): Promise<Readonly<Record<string, unknown>>>;
  checkpoints(thread: string, query: CheckpointQuery): Promise<readonly CheckpointInfo[]>;
  effects(thread: string): Promise<readonly EffectInfo[]>;
  inspect(thread: string, checkpoint: CheckpointId): Promise<Inspected>;
  /** A state to compare with may take the place of a checkpoint. */
  diff(thread: string, before: CheckpointId | object, after: CheckpointId | object): Promise<readonly FieldDiff[]>;
  rollBack(thread: string, checkpoint: CheckpointId, options: GoBack): Promise<CheckpointId>;
  edit(thread: string, update: object, options: GoBack): Promise<CheckpointId>;
  /** Makes the thread `to` from a checkpoint of this one. */
  fork(thread: string, checkpoint: CheckpointId, to: string, options: GoBack & { edit?: object }): Promise<void>;
  events(thread: string, query: { from?: CheckpointId; limit?: number }): Promise<readonly LoggedEvent[]>;
  /** The whole event log as JSON Lines. */
  exportLog(thread: string): Promise<string>;
  /** Streams the thread into the port until the port gets the message `stop`. */
  watch(thread: string, port: MessagePort): Promise<void>;
  /** Goes on with a thread whose worker ended, where that does not happen by itself. */
  resume(thread: string): Promise<void>;
  /** Stops all runs, waits until they have given their leases back, and closes the store. */
  close(): Promise<void>;
}

/** The same as they cross the worker's boundary: errors as data. */
export type HostApi = {
  readonly [K in keyof HostMethods]: (
    ...args: Parameters<HostMethods[K]>
  ) => Promise<Reply<Awaited<ReturnType<HostMethods[K]>>>>;
};

export const hostMethods = [
  'hello',
  'threads',
  'send',
  'signal',
  'extend',
  'cancel',
  'answer',
  'view',
  'state',
  'checkpoints',
  'effects',
  'inspect',
  'diff',
  'rollBack',
  'edit',
  'fork',
  'events',
  'exportLog',
  'watch',
  'resume',
  'close',
] as const satisfies readonly (keyof HostMethods)[];
