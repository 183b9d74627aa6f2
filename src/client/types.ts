/** What a page sees of an agent's types, inferred from `typeof agent`. */
import type { Fields, LogField, SecretField, ValueField } from '../model/fields.ts';
import type { FileRef } from '../model/file-ref.ts';
import type { Wait } from '../model/wait.ts';

/** Any agent, for `connect<typeof agent>`. */
export interface AgentType {
  readonly name: string;
  readonly state: Fields;
  readonly tools: object;
}

/** A file in the state, as a page sees it: its content stays in the worker. */
export interface FileInfo {
  readonly name: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** A log, as a page gets it with the state: how long it is, and its newest items (at most 100). */
export interface LogTail<Item> {
  readonly length: number;
  readonly tail: readonly Item[];
}

/** A value as a page gets it: a file as its description. */
export type Shown<Value> = Value extends FileRef
  ? FileInfo
  : Value extends readonly (infer Item)[]
    ? readonly Shown<Item>[]
    : Value extends Date | Map<unknown, unknown> | Set<unknown> | Uint8Array
      ? Value
      : Value extends object
        ? { readonly [K in keyof Value]: Shown<Value[K]> }
        : Value;

/** A value as a page sends it: a `File` where the state holds a file. */
export type Sendable<Value> = Value extends FileRef
  ? File
  : Value extends readonly (infer Item)[]
    ? readonly Sendable<Item>[]
    : Value extends Date | Map<unknown, unknown> | Set<unknown> | Uint8Array
      ? Value
      : Value extends object
        ? { readonly [K in keyof Value]: Sendable<Value[K]> }
        : Value;

export type PageState<A extends AgentType> = {
  readonly [K in keyof A['state'] as A['state'][K] extends SecretField<unknown>
    ? never
    : K]: A['state'][K] extends LogField<infer Item>
    ? LogTail<Shown<Item>>
    : A['state'][K] extends ValueField<infer Value, infer _>
      ? Shown<Value>
      : never;
};

export type PageInput<A extends AgentType> = {
  readonly [K in keyof A['state'] as A['state'][K] extends SecretField<unknown>
    ? never
    : K]?: A['state'][K] extends LogField<infer Item>
    ? readonly Sendable<Item>[]
    : A['state'][K] extends ValueField<infer _, infer Update>
      ? Sendable<Update>
      : never;
};

/** A tool's input, by the tool's name. */
type ToolInputs<A extends AgentType> = {
  readonly [K in keyof A['tools']]: A['tools'][K] extends { run(input: infer Input, call: never): unknown }
    ? Input
    : unknown;
};

/** What a call of the tool gives, as an argument; optional where it may give nothing. */
type ResultOf<T> = T extends { run(input: never, call: never): infer Result }
  ? undefined extends Awaited<Result>
    ? [result?: Awaited<Result>]
    : [result: Awaited<Result>]
  : [result?: unknown];

/** A wait for a call of one of the agent's tools: `tool` tells which, and with it the type of `args`. */
export type PageWait<A extends AgentType> = {
  [K in keyof A['tools'] & string]: Omit<Wait<Shown<ToolInputs<A>[K]>>, 'tool' | 'kind'> & {
    readonly kind: 'approval' | 'in_doubt';
    readonly tool: K;
    /** Lets the call be made; `args` if a person edited them, `forThread` to allow all later calls of the tool too. */
    allow(options?: { readonly args?: ToolInputs<A>[K]; readonly forThread?: boolean }): Promise<void>;
    deny(reason?: string): Promise<void>;
    /** For a call in doubt: it happened, with this result. */
    done(...result: ResultOf<A['tools'][K]>): Promise<void>;
    /** For a call in doubt: it did not happen, and may be made again. */
    notDone(): Promise<void>;
    /** For a call in doubt: leave it. */
    giveUp(): Promise<void>;
  };
}[keyof A['tools'] & string];

/** A question of a node to a person: `reason` is the question, `args` what is shown with it. */
export interface QuestionWait extends Omit<Wait, 'kind'> {
  readonly kind: 'question';
  /** An answer that does not fit is asked for again, with what is wrong. */
  reply(value: unknown): Promise<void>;
  /** Leaves it unanswered: the node goes on without. */
  deny(reason?: string): Promise<void>;
}
