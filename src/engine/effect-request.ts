import type { EffectClass, EffectKind } from '../model/effect.ts';
import type { EffectKey } from '../model/ids.ts';
import type { RetryPolicy } from '../program/retry.ts';
import type { ToolCall, Verdict } from '../program/tool.ts';

/** Whether a call needs a person, and what that person is shown. */
export interface Approval {
  /** False where the rule never asks: what was asked before, by other code, counts all the same. */
  readonly mayAsk: boolean;
  isNeeded(args: unknown): boolean;
  reason(args: unknown): string;
  readonly expiresInMs: number | null;
  /** Checks arguments that a person edited. @throws `tool_input_invalid` */
  check(args: unknown): unknown;
}

export interface EffectRequest {
  readonly kind: EffectKind;
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly args: unknown;
  readonly place: string;
  readonly retry: RetryPolicy;
  readonly timeLimitMs: number;
  readonly settleMs: number;
  /** Whether the receiver refuses this call once its time is over, or its key is known. */
  readonly fenced?: boolean;
  readonly approval?: Approval;
  /** Called before each attempt (from 1), before anything is recorded. @throws where it must not be made now */
  mayStart?(attempt: number): Promise<void> | void;
  run(args: unknown, call: ToolCall): Promise<unknown>;
  verify?(args: unknown, call: ToolCall): Promise<Verdict<unknown>>;
  compensate?(args: unknown, call: ToolCall): Promise<void>;
}

/** What is recorded of an effect before it is made. */
export interface RecordedEffect {
  readonly request: Pick<EffectRequest, 'kind' | 'name' | 'effectClass'>;
  readonly key: EffectKey;
  readonly askedDigest: string;
}

export interface KnownEffect extends RecordedEffect {
  readonly request: EffectRequest;
}
