/** Makes a stored state of another version into one of the agent's (A10). Changes nothing in the store. */
import { isPlainObject, notPlain } from '../base/plain-object.ts';
import { isLogImage, type LogImage } from '../codec/checkpoint-codec.ts';
import type { StateChange } from '../codec/commit-builder.ts';
import { LogView } from '../codec/log-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import { hiddenPrefix } from '../model/lines.ts';
import { validate } from '../model/schema.ts';
import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import { deepFreeze } from '../program/state.ts';
import { rareEngineErrors } from './rare-errors.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Migrated {
  /** As they are stored; a log as a view. */
  readonly before: Values;
  /** All fields that the agent declares and the migrations gave, checked and frozen. */
  readonly after: Values;
}

/**
 * @throws `state_too_new`, `state_too_old`: the agent has no way to its version; they name the version that wrote the state.
 *   `migration_failed`: a migration threw, or what it gave does not fit.
 */
export async function migrate(codec: ThreadCodec, agent: AnyAgent, image: StateImage): Promise<Migrated> {
  const { stateVersion, agentVersion } = image.checkpoint;
  const about = { thread: codec.name, stateVersion, agentVersion, known: agent.stateVersion };
  if (stateVersion > agent.stateVersion) throw rareEngineErrors.make('state_too_new', about);
  const steps = Array.from({ length: agent.stateVersion - stateVersion }, (_, index) => stateVersion + 1 + index);
  const missing = steps.find((to) => agent.migrations?.[to] === undefined);
  if (missing !== undefined) throw rareEngineErrors.make('state_too_old', { ...about, missing });
  const before = await storedValues(codec, image);
  let state = before;
  const failed = (to: number, reason: string, cause?: unknown) =>
    rareEngineErrors.make(
      'migration_failed',
      { thread: about.thread, from: stateVersion, to, agentVersion, reason },
      cause,
    );
  for (const to of steps) {
    try {
      const next: unknown = await agent.migrations?.[to]?.(state);
      if (!isPlainObject(next))
        throw new Error(`it returned ${typeof next === 'object' ? notPlain(next) : String(next)}, not the fields`);
      state = Object.freeze({ ...next });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw failed(to, reason, cause);
    }
  }
  const to = agent.stateVersion;
  const strange = Object.entries(state).find(
    ([name, value]) => value !== undefined && !name.startsWith(hiddenPrefix) && !Object.hasOwn(agent.state, name),
  );
  if (strange !== undefined) {
    const known = Object.keys(agent.state).join(', ');
    throw failed(
      to,
      `it returned the field "${strange[0]}", which the agent does not declare; there are ${known}. Leave out what is to go`,
    );
  }
  try {
    return { before, after: checked(agent, before, state) };
  } catch (cause) {
    if (!programErrors.is(cause, 'state_invalid')) throw cause;
    const { field, problem } = cause.details;
    throw failed(to, `its field "${field}" does not fit: ${problem}`, cause);
  }
}

/** The values that nodes and readers see; a log that a migration made anew is in memory. */
export async function migratedValues(codec: ThreadCodec, agent: AnyAgent, image: StateImage): Promise<Values> {
  const { after } = await migrate(codec, agent, image);
  const logs = Object.entries(agent.state).filter(([, { kind }]) => kind === 'log');
  const views = logs.map(([name]) => {
    const given = after[name];
    const view = given instanceof LogView ? given : new LogView(codec, name, { spans: [] });
    return [name, Array.isArray(given) ? view.withPending(given) : view];
  });
  return { ...after, ...Object.fromEntries(views) };
}

/** What a commit has to change. */
export function changeFrom(agent: AnyAgent, { before, after }: Migrated, image: StateImage): StateChange {
  const set = new Map<string, unknown>();
  const append = new Map<string, readonly unknown[]>();
  for (const [name, value] of Object.entries(after)) {
    if (value === before[name]) continue;
    if (agent.state[name]?.kind === 'log') append.set(name, value as readonly unknown[]);
    else set.set(name, value);
  }
  const remove = [...image.fields.keys()].filter((name) => !Object.hasOwn(after, name) && !isHidden(name));
  return { set, append, remove, restart: new Set(append.keys()) };
}

async function storedValues(codec: ThreadCodec, { fields }: StateImage): Promise<Values> {
  const own = [...fields].filter(([name]) => !isHidden(name));
  const values = await Promise.all(
    own.map(async ([name, stored]) => {
      if (isLogImage(stored)) return [name, viewOf(codec, name, stored)] as const;
      return [name, deepFreeze(await codec.decodeValue(stored))] as const;
    }),
  );
  return Object.freeze(Object.fromEntries(values));
}

/** Whether this is none of the author's: what the lines of a run keep is of no version. */
function isHidden(name: string): boolean {
  return name.startsWith(hiddenPrefix);
}

function viewOf(codec: ThreadCodec, name: string, image: LogImage): LogView {
  return new LogView(codec, name, image);
}

function checked(agent: AnyAgent, before: Values, state: Values): Values {
  const entries = Object.entries(agent.state).flatMap(([name, field]) => {
    const given = Object.hasOwn(state, name) ? state[name] : undefined;
    if (field.kind === 'secret' || given === undefined) return [];
    if (given instanceof LogView) {
      if (given === before[name] && field.kind === 'log') return [[name, given] as const];
      throw invalid(name, 'it is the log of another field; return the list of its items, read by slice(0)');
    }
    if (field.kind !== 'log') return [[name, fitting(name, field.schema, given)] as const];
    if (!Array.isArray(given)) throw invalid(name, 'it is a log; return it as it was given, or a list of its items');
    return [[name, given.map((item: unknown, index) => fitting(`${name}[${index}]`, field.schema, item))] as const];
  });
  return Object.fromEntries(entries);
}

function fitting(name: string, schema: Parameters<typeof validate>[0], value: unknown): unknown {
  const result = validate(schema, value);
  if ('issues' in result) throw invalid(name, result.issues);
  return deepFreeze(result.value);
}

function invalid(field: string, problem: string) {
  return programErrors.make('state_invalid', { field, problem });
}
