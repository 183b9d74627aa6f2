import { HoldfastError } from '../base/errors.ts';
import type { EffectClass } from '../model/effect.ts';
import type { Schema } from '../model/schema.ts';
import type { RetryPolicy } from './retry.ts';

/** What a tool's function gets beside its input. */
export interface ToolCall {
  /** The idempotency key: the same on every attempt. Send it along, so that a server can tell a repetition. */
  readonly effectKey: string;
  /** From 1. Differs between attempts; never part of the key. */
  readonly attempt: number;
  /** Aborted on cancel, on the time limit, and when the right to run the thread is lost. */
  readonly abortSignal: AbortSignal;
  /** The latest wall-clock time at which the receiver should still accept this attempt's start. */
  readonly notAfterMs: number;
}

/**
 * What `verify` found out: it happened (with its result), it did not, or it cannot be told. `closed` means that the
 * receiver will refuse the older attempt if it still arrives; without it, `not_done` counts only after the call's
 * `notAfterMs` and the tool's `settleMs`, and not where the call's runner may only have stood still, unless the tool is `fenced`.
 */
export type Verdict<Result> =
  | { readonly verdict: 'done'; readonly result: Result }
  | { readonly verdict: 'not_done'; readonly closed?: boolean }
  | { readonly verdict: 'unknown' };

/** Whether this call needs approval. (Written as a method, so that tools of all inputs fit in one list.) */
export type ApprovalRule<Input> = { needsApproval(input: Input): boolean }['needsApproval'];

export interface ToolDefinition<Name extends string, Input, Result> {
  /** Unique in its agent; shown in approvals. */
  readonly name: Name;
  readonly description: string;
  readonly input: Schema<unknown, Input>;
  /** What may happen to a call that a crash cut off. Must be said: there is no safe guess. */
  readonly effect: EffectClass;
  /** Whether a person must allow each call. Default `never`. */
  readonly approval?: 'always' | 'never' | ApprovalRule<Input>;
  /** Why the call is made, in words for the person who allows it. */
  reason?(input: Input): string;
  /** An approval that is not answered for so long expires: the call is refused. */
  readonly approvalExpiresMs?: number;
  run(input: Input, call: ToolCall): Result | Promise<Result>;
  /** Asks the outside world what became of a call in doubt. May be called several times. */
  verify?(input: Input, call: ToolCall): Verdict<Result> | Promise<Verdict<Result>>;
  /**
   * Undoes a call in doubt. Must be safe to repeat, and safe if the call never happened. `call.attempt` is the attempt to undo: a
   * request that comes late must not undo a later one.
   */
  compensate?(input: Input, call: ToolCall): void | Promise<void>;
  readonly retry?: Partial<RetryPolicy>;
  /** Whether it needs the network. While that is away the call waits for it, and uses up no retry. Default false. */
  readonly network?: boolean;
  /** Limit for one attempt. Default 60 s. */
  readonly timeLimitMs?: number;
  /** How long after its last possible start a call may still arrive at the receiver. Default 60 s. */
  readonly settleMs?: number;
  /**
   * Whether the receiver itself refuses a call after its `notAfterMs`, or one whose `effectKey` it knows. Only such a receiver
   * excludes that a tab which stood still sends its call after another one took over. Default false.
   */
  readonly fenced?: boolean;
}

export type Tool<Name extends string = string, Input = unknown, Result = unknown> = ToolDefinition<Name, Input, Result>;

/** A tool whose types are known only where it was defined. */
export type AnyTool = Tool<string, unknown, unknown>;
export type Tools = Readonly<Record<string, AnyTool>>;

/** Defines a tool. Its input and result types are inferred from schema and `run`. */
export function tool<const Name extends string, Input, Result>(
  definition: ToolDefinition<Name, Input, Result>,
): Tool<Name, Input, Result> {
  return Object.freeze(definition);
}

/**
 * Thrown by a tool to say: the receiver refused this call, and nothing happened. It is the only error that makes a call of
 * class `once` `failed`; any other leaves it in doubt.
 */
export class Refusal extends HoldfastError<'refused', { readonly retry: boolean }> {
  constructor(
    message: string,
    options: ErrorOptions & { /** Whether trying again may help. Default true. */ readonly retry?: boolean } = {},
  ) {
    super('refused', message, { retry: options.retry ?? true }, options);
  }
}

/** For `verify`: the call happened, with this result. */
export function done<Result>(result: Result): Verdict<Result> {
  return { verdict: 'done', result };
}

/** For `verify`: the call did not happen. `closed`: and if it still arrives, the receiver will refuse it. */
export function notDone(options: { readonly closed?: boolean } = {}): Verdict<never> {
  return { verdict: 'not_done', closed: options.closed ?? false };
}

/** For `verify`: it cannot be told; a person will be asked. */
export const unknown: Verdict<never> = { verdict: 'unknown' };
