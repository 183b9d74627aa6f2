/** All that is left of a world at its end: what is stored, opened by the codec, beside what happened outside. */
import { KeyRing } from '../../../src/codec/key-ring.ts';
import { type LedgerEntry, readLedger } from '../../../src/codec/ledger-codec.ts';
import type { ThreadCodec } from '../../../src/codec/thread-codec.ts';
import { openThreadImage, type StateImage } from '../../../src/codec/thread-image.ts';
import { readAnswer, readWait } from '../../../src/codec/wait-codec.ts';
import { ThreadState } from '../../../src/engine/thread-state.ts';
import type { Log } from '../../../src/model/fields.ts';
import type { WaitId } from '../../../src/model/ids.ts';
import type { ThreadRow } from '../../../src/model/records.ts';
import type { Wait, WaitAnswer } from '../../../src/model/wait.ts';
import type { AnyAgent } from '../../../src/program/agent.ts';
import type { ModelRequest } from '../../../src/program/model.ts';
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts';
import { agentOf } from '../plan/interpret.ts';
import type { CallArgs, Plan } from '../plan/plan.ts';
import { never } from '../world/life.ts';
import type { SeenCheckpoint } from '../world/peek.ts';
import { databaseName } from '../world/sim-store.ts';
import type { Watch } from '../world/watch.ts';
import type { World } from '../world/world.ts';

export interface Entry extends LedgerEntry {
  /** The logical intention; of a call or a model call only. */
  readonly place: string | undefined;
  /** The same as the outside counts it: what a fork was given is an intention of its source. */
  readonly intention: string | undefined;
  /** How many groups had been applied when it got its outcome. */
  readonly settledAt: number;
  readonly args: CallArgs | undefined;
  /** The result of a success. */
  readonly value: unknown;
  /** Of a compensation: its own attempt; else 0. */
  readonly undoes: number;
}

export interface Asked {
  readonly wait: Wait;
  readonly answer: WaitAnswer | undefined;
  /** How many groups had been applied when it was opened. */
  readonly askedAt: number;
}

/** Of one thread: the world's own, one of its children, or a fork. */
export interface Evidence {
  readonly world: World;
  readonly plan: Plan;
  readonly watch: Watch;
  readonly row: ThreadRow;
  readonly codec: ThreadCodec;
  /** From the root to the head. */
  readonly lineage: readonly SeenCheckpoint[];
  readonly entries: readonly Entry[];
  readonly lost: readonly number[];
  /** In the order in which they were opened. */
  readonly waits: readonly Asked[];
  /** The state at the head, logs as lists; `undefined` where records were lost. */
  readonly state: Readonly<Record<string, unknown>> | undefined;
  readonly notes: readonly string[];
  /** Deduplication id of each inbox item, by order. */
  readonly inbox: ReadonlyMap<number, string>;
}

/** Undefined where no thread is left. */
export async function gather(world: World, plan = world.plan, watch = world.watch): Promise<Evidence | undefined> {
  const { row } = watch;
  if (row === undefined) return undefined;
  const keyRing = await ringOf(world);
  const codec = await keyRing.openThread(row.thread, row.incarnation);
  watch.restoreCollected();
  const state = watch.hasLosses ? undefined : await stateOf(plan, codec, row);
  const { entries, lost } = await readLedger(codec, 0, row.ledger);
  return {
    world,
    plan,
    watch,
    row,
    codec,
    lineage: lineageOf(world, watch, row, row.head),
    entries: await Promise.all(entries.map((entry) => open(codec, watch, entry))),
    lost: lost.map(({ number }) => number),
    waits: await waitsOf(world, watch, codec),
    state,
    notes: (state?.notes ?? []) as readonly string[],
    inbox: inboxOf(world, row),
  };
}

/** Opened once for all threads of a world. */
function ringOf(world: World): Promise<KeyRing> {
  const known = rings.get(world);
  if (known !== undefined) return known;
  const store = new MemoryStore({ name: databaseName, data: world.data });
  const ring = KeyRing.open(store, world.keys, world.cryptography, world.random);
  rings.set(world, ring);
  return ring;
}

const rings = new WeakMap<World, Promise<KeyRing>>();

async function stateOf(plan: Plan, codec: ThreadCodec, row: ThreadRow) {
  return valuesOf(plan, codec, (await openThreadImage(codec, row)).state);
}

/** Logs as lists. */
export async function valuesOf(plan: Plan, codec: ThreadCodec, state: StateImage | null) {
  const version = state?.checkpoint.stateVersion ?? 1;
  const { values } = await ThreadState.read(codec, readerOf(plan, version), state);
  return { ...values, notes: await (values.notes as Log<string>).slice(0) } as Record<string, unknown>;
}

/** An agent that only says what the fields of the state are. Most plans are asked for again. */
function readerOf(plan: Plan, version: number): AnyAgent {
  const known = readers.get(plan)?.[version];
  if (known !== undefined) return known;
  const reader = agentOf(plan, nowhere, unmoved, version);
  readers.set(plan, { ...readers.get(plan), [version]: reader });
  return reader;
}

const readers = new WeakMap<Plan, Readonly<Record<number, AnyAgent>>>();
const nowhere = { call: never, verify: never, compensate: never };
const unmoved = { breaks: () => false, kill: never };

/** The entries whose compensation succeeded: whatever their own call answered, they are undone. */
export function undoneOf(entries: readonly Entry[], world: World): ReadonlySet<Entry> {
  const steps = new Set(entries.filter(({ undoes }) => undoes > 0).map(({ intent }) => intent.step));
  const undone = entries.filter(
    ({ intent }) => steps.has(intent.step) && world.outside.undoneKeys.has(`${intent.key} ${intent.attempt}`),
  );
  return new Set(undone);
}

/** From the root to this checkpoint. */
export function lineageOf(
  { data, findings }: World,
  watch: Watch,
  row: ThreadRow,
  to: string | null,
): readonly SeenCheckpoint[] {
  const lineage: SeenCheckpoint[] = [];
  for (let id = to; id !== null; ) {
    const record = data.records('checkpoints', row.thread).get(id);
    if (record === undefined && !watch.spoiled.has(`checkpoints/${id}`)) {
      findings.violate('lineage-is-whole', `Checkpoint ${id} of the head's lineage is not stored.`);
      break;
    }
    const seen: SeenCheckpoint | undefined = watch.seen.get(id);
    if (seen === undefined) break; // it came with a row that another oracle looks at
    lineage.push(seen);
    id = seen.parent;
  }
  return lineage.reverse();
}

async function open(codec: ThreadCodec, watch: Watch, entry: LedgerEntry): Promise<Entry> {
  const opened = await placed(codec, entry);
  const { place } = opened;
  const isGiven = entry.intent.number <= watch.carried || entry.outcome?.by === 'reuse';
  return {
    ...opened,
    intention: place === undefined || isGiven ? place : watch.marks + place,
    settledAt: watch.outcomeAt.get(entry.intent.number) ?? 0,
  };
}

async function placed(codec: ThreadCodec, entry: LedgerEntry): Promise<Omit<Entry, 'intention' | 'settledAt'>> {
  const { kind, args } = entry.intent;
  const value = entry.outcome?.value == null ? undefined : await codec.decodeValue(entry.outcome.value);
  if (kind === 'tool') {
    const given = (await codec.decodeValue(args)) as CallArgs;
    return { ...entry, place: given.place, args: given, value, undoes: 0 };
  }
  if (kind !== 'model') {
    return {
      ...entry,
      place: undefined,
      args: undefined,
      value,
      undoes: kind === 'compensate' ? entry.intent.attempt : 0,
    };
  }
  const [message] = ((await codec.decodeValue(args)) as ModelRequest).messages;
  const prompt = message !== undefined && 'text' in message ? message.text : '';
  return { ...entry, place: prompt.split(' ')[0], args: undefined, value, undoes: 0 };
}

async function waitsOf({ data }: World, watch: Watch, codec: ThreadCodec): Promise<readonly Asked[]> {
  const records = data.records('waits', codec.thread).range({ from: 'w:', to: 'w;' });
  const asked = records.map(async ({ key }): Promise<Asked | undefined> => {
    const id = key.slice(2) as WaitId;
    const wait = await readWait(codec, id);
    return wait && { wait, answer: (await readAnswer(codec, id))?.answer, askedAt: watch.waitAt.get(id) ?? 0 };
  });
  return (await Promise.all(asked)).filter((one) => one !== undefined).sort((a, b) => a.askedAt - b.askedAt);
}

function inboxOf({ data }: World, row: ThreadRow): ReadonlyMap<number, string> {
  const items = data.records('inbox', row.thread).range({ from: 'o:', to: 'o;' });
  return new Map(items.map(({ key, plain }) => [Number.parseInt(key.slice(2), 16), String(plain.dedupId)]));
}
