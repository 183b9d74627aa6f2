import type { Schema } from './schema.ts';

/** A field that holds one value and is stored anew when it changes. */
export interface ValueField<Value, Update = Value> {
  readonly kind: 'value';
  readonly schema: Schema<unknown, Value>;
  readonly initial: Value;
  reduce?(current: Value, update: Update): Value;
}

/** A field that only grows. A step costs what it adds; what is older is read when asked for. */
export interface LogField<Item> {
  readonly kind: 'log';
  readonly schema: Schema<unknown, Item>;
}

/** A value that is never stored: made again by `rehydrate` after each restart. */
export interface SecretField<Value> {
  readonly kind: 'secret';
  readonly schema: Schema<unknown, Value>;
}

export type Field = ValueField<unknown, never> | LogField<unknown> | SecretField<unknown>;
export type Fields = Readonly<Record<string, Field>>;

/** Declares a value with its schema and the value it has before the first step. */
export function value<Output>(schema: Schema<unknown, Output>, initial: NoInfer<Output>): ValueField<Output>;
/** With a reducer: how an update changes the value. Pure; updates of parallel steps are applied one after the other. */
export function value<Output, Update>(
  schema: Schema<unknown, Output>,
  initial: NoInfer<Output>,
  reduce: (current: Output, update: Update) => Output,
): ValueField<Output, Update>;
export function value(
  schema: Schema<unknown, unknown>,
  initial: unknown,
  reduce?: (current: unknown, update: never) => unknown,
): ValueField<unknown, never> {
  return { kind: 'value', schema, initial, ...(reduce && { reduce }) };
}

/** Declares a list that only grows; an update gives the items to add. */
export function log<Item>(schema: Schema<unknown, Item>): LogField<Item> {
  return { kind: 'log', schema };
}

/** Declares a value that never enters a checkpoint, an event, a log line or an error message. */
export function secret<Value>(schema: Schema<unknown, Value>): SecretField<Value> {
  return { kind: 'secret', schema };
}

/** What a step sees of a log field. Reading may wait for the store; nothing is held in memory that was not asked for. */
export interface Log<Item> extends AsyncIterable<Item> {
  readonly length: number;
  /** The newest `count` items, oldest first. */
  tail(count: number): Promise<readonly Item[]>;
  /** Items `from` (inclusive) to `to` (exclusive, default the end). As in a list, what is below 0 counts from the end. */
  slice(from: number, to?: number): Promise<readonly Item[]>;
}

/** The state as nodes see it: frozen. */
export type StateOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends LogField<infer Item>
    ? Log<Item>
    : F[K] extends SecretField<infer Value>
      ? Value | undefined
      : F[K] extends ValueField<infer Value, infer _>
        ? Value
        : never;
};

/** The value fields of a state. */
export type ValuesOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends ValueField<infer _, infer __> ? K : never]: F[K] extends ValueField<
    infer Value,
    infer _
  >
    ? Value
    : never;
};

/** What a step, or an input, may change. */
export type UpdateOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends SecretField<unknown> ? never : K]?: F[K] extends LogField<infer Item>
    ? readonly Item[]
    : F[K] extends ValueField<infer _, infer Update>
      ? Update
      : never;
};
