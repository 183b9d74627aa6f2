import type { Clock } from '../base/clock.ts';

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls?: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly tool: string; readonly result: unknown };

export interface ModelToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
}

/** Plain data: it is recorded before it is sent. */
export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** Tools that the model may ask for. */
  readonly tools?: readonly { readonly name: string; readonly description: string }[];
  /** Asks for an answer in JSON; the name says what for. */
  readonly output?: { readonly name: string };
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What the call cost, where the model says so itself; else its `price` tells. */
  readonly cost?: number;
}

/** One piece of an answer, in the order in which it comes. `finish` is the last. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  | { readonly type: 'finish'; readonly usage: ModelUsage };

export interface ModelContext {
  readonly effectKey: string;
  readonly attempt: number;
  readonly abortSignal: AbortSignal;
  readonly clock: Clock;
}

/** A language model. Stateless: all that it knows is in the request. */
export interface LanguageModel {
  /** Shown in the ledger, and recorded: another name on a re-run is a mismatch. */
  readonly name: string;
  /** For budgets, in any one unit: for a million tokens each. Without it, calls cost nothing. */
  readonly price?: { readonly inputPerMillion: number; readonly outputPerMillion: number };
  /** Streams one answer. Stops its request when the signal is aborted. */
  stream(request: ModelRequest, context: ModelContext): AsyncIterable<ModelPart>;
}

/** A whole answer, as it is recorded. */
export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly usage: ModelUsage;
}
