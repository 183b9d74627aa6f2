/** The state as nodes see it: decoded values, log views, and secrets that are made again. */
import { rejectsWhenAborted } from '../base/abort.ts';
import { isLogImage } from '../codec/checkpoint-codec.ts';
import type { StateChange } from '../codec/commit-builder.ts';
import { LogView } from '../codec/log-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { Fields, StateOf } from '../model/fields.ts';
import type { AnyAgent } from '../program/agent.ts';
import { type AppliedUpdate, applyUpdate, deepFreeze, initialValues } from '../program/state.ts';
import { onDemand } from './load-on-demand.ts';

export type StateRecord = Readonly<Record<string, unknown>>;

/** The state of an agent whose fields are known; of any other one a record. */
export type StateIn<A> = A extends { readonly state: infer F extends Fields }
  ? string extends keyof F
    ? StateRecord
    : StateOf<F>
  : StateRecord;

export class ThreadState {
  readonly values: StateRecord;
  readonly #codec: ThreadCodec;
  readonly #agent: AnyAgent;

  private constructor(codec: ThreadCodec, agent: AnyAgent, values: StateRecord) {
    this.#codec = codec;
    this.#agent = agent;
    this.values = Object.freeze(values);
  }

  /**
   * The state at a checkpoint; fields it does not hold have their initial value.
   *
   * @param stopped ends the wait for `rehydrate`, whose promise may never settle. @throws its reason
   */
  static async read(
    codec: ThreadCodec,
    agent: AnyAgent,
    image: StateImage | null,
    stopped?: AbortSignal,
  ): Promise<ThreadState> {
    const values: Record<string, unknown> = Object.fromEntries(initialValues(agent.state));
    const isOther = image !== null && image.checkpoint.stateVersion !== agent.stateVersion;
    if (isOther) {
      const { migratedValues } = await onDemand();
      Object.assign(values, await migratedValues(codec, agent, image));
    }
    for (const [name, field] of isOther ? [] : Object.entries(agent.state)) {
      const stored = image?.fields.get(name);
      const isOtherKind = stored !== undefined && isLogImage(stored) !== (field.kind === 'log');
      if (isOtherKind && field.kind !== 'secret') throw (await onDemand()).fieldChanged(codec, agent, name);
      if (field.kind === 'log') {
        values[name] = new LogView(codec, name, stored !== undefined && isLogImage(stored) ? stored : { spans: [] });
      } else if (stored !== undefined && !isLogImage(stored)) {
        values[name] = deepFreeze(await codec.decodeValue(stored));
      }
    }
    const made = Promise.resolve(agent.rehydrate?.(Object.freeze({ ...values }) as never));
    const secrets = await (stopped === undefined ? made : Promise.race([made, rejectsWhenAborted(stopped)]));
    for (const [name, field] of Object.entries(agent.state)) {
      if (field.kind !== 'secret') continue;
      values[name] = (secrets as StateRecord | undefined)?.[name];
      codec.secrets.add(values[name]);
    }
    return new ThreadState(codec, agent, values);
  }

  /** @throws `field_unknown`, `state_invalid` */
  update(update: object): AppliedUpdate {
    return applyUpdate(this.#agent.state, this.values, update);
  }

  /** What a first checkpoint stores: the initial value of every field, and the update on top. */
  wholeChange(applied: AppliedUpdate): StateChange {
    const set = new Map([...initialValues(this.#agent.state), ...applied.set]);
    const logs = Object.entries(this.#agent.state).flatMap(([name, { kind }]) =>
      kind === 'log' ? [[name, applied.append.get(name) ?? []] as const] : [],
    );
    return { set, append: new Map(logs), remove: [] };
  }

  /** The state after an update that was committed as `image`. */
  after(applied: AppliedUpdate, image: StateImage): ThreadState {
    const values: Record<string, unknown> = { ...this.values };
    for (const [name, value] of applied.set) values[name] = value;
    for (const [name, items] of applied.append) {
      const view = values[name];
      const stored = image.fields.get(name);
      if (view instanceof LogView && stored !== undefined && isLogImage(stored))
        values[name] = view.grown(stored, items);
    }
    return new ThreadState(this.#codec, this.#agent, values);
  }

  /** Several updates as one, each applied to what those before it made. @throws as `update` */
  compose(updates: readonly object[]): AppliedUpdate {
    const set = new Map<string, unknown>();
    const append = new Map<string, readonly unknown[]>();
    let values = this.values;
    for (const update of updates) {
      const applied = applyUpdate(this.#agent.state, values, update);
      for (const [name, value] of applied.set) set.set(name, value);
      for (const [name, items] of applied.append) append.set(name, [...(append.get(name) ?? []), ...items]);
      values = { ...values, ...Object.fromEntries(applied.set) };
    }
    return { set, append };
  }

  /** The state with updates on top that are not in it yet: what a line of a fork sees, and routers decide on. */
  with(updates: readonly object[]): ThreadState {
    if (updates.length === 0) return this;
    return new ThreadState(this.#codec, this.#agent, this.preview(this.compose(updates)));
  }

  /** The state as it will be once the update is committed: what routers decide on. */
  preview(applied: AppliedUpdate): StateRecord {
    const values: Record<string, unknown> = { ...this.values };
    for (const [name, value] of applied.set) values[name] = value;
    for (const [name, items] of applied.append) {
      const view = values[name];
      if (view instanceof LogView) values[name] = view.withPending(items);
    }
    return Object.freeze(values);
  }
}
