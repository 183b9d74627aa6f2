import type { ErrorData } from '../base/errors.ts';
import type { Fields, UpdateOf, ValuesOf } from '../model/fields.ts';
import type { LineFailure } from '../model/lines.ts';
import type { Schema } from '../model/schema.ts';
import type { ModelAnswer, ModelRequest } from './model.ts';
import type { ForkOptions, NodeResult } from './node-result.ts';
import type { Tool, Tools } from './tool.ts';

export interface CallOptions {
  /** Tells calls apart that run side by side in one scope. Must be the same on every run. */
  readonly key?: string;
}

type InputOf<T> = T extends Tool<string, infer Input, infer _> ? Input : never;
type ResultOf<T> = T extends Tool<string, infer _, infer Result> ? Result : never;

/**
 * What a node may do beside computing. Everything here is recorded: a node that is run again after a crash gets the recorded
 * answers, in the same places, instead of doing it again. Calls in one scope follow one another; `all` opens a scope for
 * each item.
 */
export interface AskOptions<Answer> extends CallOptions {
  /** What the answer must be: one that does not fit is asked for again, with what is wrong. */
  readonly answer?: Schema<unknown, Answer>;
  /** Data to show with the question. */
  readonly show?: unknown;
  /** A question that is not answered for so long fails as `wait_expired`. */
  readonly expiresMs?: number;
}

export interface EventOptions<Value> extends CallOptions {
  readonly value?: Schema<unknown, Value>;
  readonly expiresMs?: number;
}

/** Waits for something outside. Nothing is held in memory meanwhile; a restart, or many, change nothing. */
export interface WaitCalls {
  /** Asks a person. @throws `question_declined`, `wait_expired`, `wait_cancelled` */
  ask<Answer = unknown>(question: string, options?: AskOptions<Answer>): Promise<Answer>;
  /**
   * Waits for an event of this name, sent with `thread.signal`. One that came before is taken at once; each goes to one wait.
   *
   * @throws `event_invalid`, `wait_expired`
   */
  waitFor<Value = unknown>(event: string, options?: EventOptions<Value>): Promise<Value>;
  /** Goes on after this time. A thread wakes only while a page of its app is open; one that is late goes on at once. */
  sleep(durationMs: number, options?: CallOptions): Promise<void>;
  /** Goes on when the network can be reached. */
  online(options?: CallOptions): Promise<void>;
  /**
   * Starts another agent, one that this agent names in `agents`, on a thread of its own, and waits for its end. A child that
   * fails is told, and stops nobody, unless `onFailure` is `stop`.
   *
   * @throws `child_unknown`, `children_too_deep`, `field_unknown`, `state_invalid`; `child_failed` with `onFailure: 'stop'`
   */
  child<F extends Fields>(
    agent: { readonly name: string; readonly state: F },
    input: UpdateOf<F>,
    options?: CallOptions & { readonly onFailure?: 'tell' | 'stop' },
  ): Promise<ChildEnd<F>>;
}

/** How a child ended. */
export interface ChildEnd<F extends Fields> {
  /** The id of its thread: its history stays there. */
  readonly thread: string;
  readonly status: 'done' | 'failed' | 'cancelled';
  /** The value fields of its state, for one that is done. */
  readonly state: ValuesOf<F> | null;
  readonly failure: ErrorData | null;
}

export interface CallScope<T extends Tools> extends WaitCalls {
  /**
   * Calls a tool: asks for approval where the tool wants it, records the intent, calls, records the result.
   *
   * @throws `tool_denied`, `approval_expired`, `tool_input_invalid`, `effect_failed` (retries are spent), `effect_given_up`,
   * `effect_compensated`.
   */
  call<K extends keyof T & string>(tool: K, input: InputOf<T[K]>, options?: CallOptions): Promise<ResultOf<T[K]>>;
  /**
   * Runs `work` for every item side by side; results in the order of the items. `work` makes its calls through the scope
   * it is given. Rejects with the first failure, once every item has ended.
   */
  all<Item, Result>(
    items: readonly Item[],
    work: (item: Item, scope: CallScope<T>, index: number) => Promise<Result>,
  ): Promise<Result[]>;
  readonly model: ModelCalls;
  /** The time, the same on every run of this step. Milliseconds since 1970. */
  now(): number;
  /** A number in [0, 1), the same on every run of this step. */
  random(): number;
}

export interface NodeContext<F extends Fields, T extends Tools, N extends string> extends CallScope<T> {
  /** Goes on at another node. */
  goto(node: N, update?: UpdateOf<F>): NodeResult<F, N>;
  /** Ends the run. */
  end(update?: UpdateOf<F>): NodeResult<F, N>;
  /** Goes where the edge of this node leads. */
  update(update?: UpdateOf<F>): NodeResult<F, N>;
  /**
   * Goes on at several nodes side by side. Each line is durable by itself, sees its own updates, and ends with `end`; when all
   * have ended, their updates are applied in the order of the nodes, through the reducers.
   */
  parallel(nodes: readonly N[], options?: ForkOptions<N> & { readonly update?: UpdateOf<F> }): NodeResult<F, N>;
  /** The same for each item of a list: a line for each, which begins at `node` and finds its item in `item`. */
  fanOut(
    node: N,
    items: readonly unknown[],
    options?: ForkOptions<N> & { readonly update?: UpdateOf<F> },
  ): NodeResult<F, N>;
  /** The item of this line. @throws `item_invalid`: it does not fit the schema, or this line has none. */
  item<Item>(schema: Schema<unknown, Item>): Item;
  /** What went wrong before, where the policy went back to this node. Its model is told by itself. */
  readonly hint: string | undefined;
  /** Lines that failed in the fork that led here, if it collects them. */
  readonly failures: readonly LineFailure[];
  /** Tells every open view of the thread; plain data, never stored. A step that is run again tells it again. */
  emit(name: string, data?: unknown): void;
  /** Aborted on cancel, on the node's time limit, and when the right to run the thread is lost. */
  readonly abortSignal: AbortSignal;
}

export interface ModelCalls {
  /** The whole answer. Its text streams to the thread's watchers meanwhile. */
  answer(request: ModelRequest, options?: CallOptions): Promise<ModelAnswer>;
  /** The answer's text. */
  text(prompt: string, options?: CallOptions): Promise<string>;
  /** The answer as a value of this schema. @throws `model_output_invalid` */
  object<Output>(
    schema: Schema<unknown, Output>,
    prompt: string,
    options?: CallOptions & { readonly name?: string },
  ): Promise<Output>;
}
