/** What of the inbox was settled behind the checkpoint that a repair falls back to, and after which steps (PROTOCOL 4). */
import { openCheckpoint } from '../codec/checkpoint-codec.ts';
import { readInbox } from '../codec/inbox-codec.ts';
import { readLedger } from '../codec/ledger-codec.ts';
import { openEvents } from '../codec/open-events.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { CheckpointCause, Control, Position } from '../model/checkpoint.ts';
import type { ThreadEvent } from '../model/event.ts';
import { type CheckpointId, type StepId, sequenceOf } from '../model/ids.ts';
import { type InboxReplay, type ReplayedItems, settledBetween } from '../model/inbox.ts';
import type { StoredRecord, Table } from '../model/records.ts';
import { stepIdFor } from './identity.ts';
import { isStepEnd } from './plans.ts';

/** What a checkpoint that is passed over did. */
interface Fact {
  readonly sequence: number;
  readonly settled: readonly number[];
  readonly isStepEnd: boolean;
  /** The step that ended, on the main line or on one of a fork. */
  readonly step?: StepId;
  /** The newest step of the main line by then. */
  readonly mainStep?: StepId | null;
  /** Neither its events nor its own record tell. */
  readonly isUnknown?: boolean;
}

/** Where a repair falls back to. */
interface Below {
  readonly control: Control;
  readonly position: Position;
  /** Of the checkpoint; -1 where there is none. */
  readonly sequence: number;
  /** The node at which runs begin. */
  readonly start: string;
}

/**
 * Items that were settled behind the ground, in groups, and how many steps ended behind the last one.
 *
 * @param passedOver oldest first.
 */
export async function inboxReplayOf(
  codec: ThreadCodec,
  ground: Below,
  passedOver: readonly CheckpointId[],
): Promise<InboxReplay> {
  const { inboxTaken, consumed, inboxReplay } = ground.control;
  const items = await readInbox(codec, inboxTaken, { consumed });
  const asking = items.flatMap(({ order, item }) => (item.type === 'event' ? [] : [order]));
  let facts: Fact[] = [];
  let known = { groups: inboxReplay?.groups ?? [], steps: inboxReplay?.rest.steps ?? 0 };
  const all = await withBegun(codec, ground, asking, await factsOf(codec, ground, passedOver));
  for (const fact of all) {
    // A step that ends once more does so behind an earlier repair: what steps had not come to again is behind them still.
    const again = fact.step === undefined ? -1 : facts.findIndex(({ step }) => step === fact.step);
    if (again >= 0) {
      known = followedBy(groupsOf(facts, asking), known);
      facts = facts.slice(0, again);
    }
    facts.push(fact);
  }
  const { groups, steps } = followedBy(groupsOf(facts, asking), known);
  const settled = groups.flatMap(({ orders }) => orders);
  const isExact = inboxReplay?.isExact !== false && all.every(({ isUnknown }) => !isUnknown);
  return { groups, rest: { steps, orders: asking.filter((order) => !settled.includes(order)) }, isExact };
}

/** Of each sequence number behind the ground. */
async function factsOf(codec: ThreadCodec, ground: Below, ids: readonly CheckpointId[]): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  let next = ground.sequence + 1;
  for (const id of ids) {
    const fact = await factOf(codec, ground, id);
    for (; next < fact.sequence; next += 1) facts.push(unknown(next));
    facts.push(fact);
    next = fact.sequence + 1;
  }
  return facts;
}

async function factOf(codec: ThreadCodec, { control }: Below, id: CheckpointId): Promise<Fact> {
  const sequence = sequenceOf(id) ?? 0;
  const record = await ifWhole(codec, 'events', id, openEvents);
  if (record !== undefined) return { sequence, ...factIn(record.events) };
  const checkpoint = await ifWhole(codec, 'checkpoints', id, openCheckpoint);
  if (checkpoint === undefined) return unknown(sequence);
  const settled = settledBetween(control, checkpoint.control); // those of earlier ones are known by then
  return { sequence, settled, isStepEnd: isStepEnd(checkpoint.cause), mainStep: checkpoint.position.step };
}

function unknown(sequence: number): Fact {
  return { sequence, settled: [], isStepEnd: true, isUnknown: true };
}

function factIn(events: readonly ThreadEvent[]): Omit<Fact, 'sequence'> {
  const settled = events.flatMap(({ type, details }) => {
    if (type === 'interrupted') return []; // the input that interrupts is settled as it is taken up
    const order = type === 'failed' ? details.input : details.order;
    return typeof order === 'number' ? [order] : [];
  });
  const { step, path } = events.find(({ type }) => type === 'step')?.details ?? {};
  return {
    settled,
    isStepEnd: events.some(({ type }) => isStepEnd(type as CheckpointCause)),
    ...(typeof step === 'string' && { step: step as StepId }),
    ...(typeof step === 'string' && path === undefined && { mainStep: step as StepId }),
  };
}

/**
 * The first step of a run has its id from the input that began it: so an input is known whose own checkpoint tells nothing, by that
 * step's end or by its calls. Of the first checkpoint of all it is the oldest one, where nothing tells. Others of which nothing is
 * known pass for ends of steps, as most are.
 */
async function withBegun(
  codec: ThreadCodec,
  { control: { lineage, ledger }, position, start: node }: Below,
  asking: readonly number[],
  facts: readonly Fact[],
): Promise<readonly Fact[]> {
  if (!facts.some(({ isUnknown }) => isUnknown)) return facts;
  const { entries } = await readLedger(codec, ledger.count, await newestEntry(codec));
  const called = new Set(entries.map(({ intent }) => intent.step));
  const begun: Fact[] = [];
  const placed = new Set<number>();
  let predecessor = position.step;
  for (const [index, fact] of facts.entries()) {
    const first = fact.isUnknown ? facts.slice(index + 1).find((one) => one.mainStep != null)?.mainStep : undefined;
    const idOf = (input: number) => stepIdFor(codec, { lineage, predecessor, node, path: '', input });
    const lost = fact.isUnknown ? asking.filter((each) => !placed.has(each)) : [];
    const ids = await Promise.all(lost.map(idOf));
    const order =
      lost[ids.findIndex((id) => id === first || called.has(id))] ?? (fact.sequence === 0 ? lost[0] : undefined);
    if (order !== undefined) placed.add(order);
    begun.push(order === undefined ? fact : { sequence: fact.sequence, settled: [order], isStepEnd: false });
    predecessor = fact.mainStep ?? predecessor;
  }
  return begun;
}

async function newestEntry(codec: ThreadCodec): Promise<number> {
  const [newest] = await codec.source.range('ledger', codec.thread, { reverse: true, limit: 1 });
  return newest === undefined ? 0 : Number.parseInt(newest.key.slice(0, 10), 16);
}

/** `steps`: how many ended behind the last group. */
interface Behind {
  readonly groups: readonly ReplayedItems[];
  readonly steps: number;
}

function groupsOf(facts: readonly Fact[], asking: readonly number[]): Behind {
  const groups: ReplayedItems[] = [];
  const left = new Set(asking);
  let steps = 0;
  for (const { settled, isStepEnd: ends } of facts) {
    const orders = settled.filter((order) => left.delete(order));
    if (orders.length > 0) {
      groups.push({ steps, orders });
      steps = 0;
    }
    if (ends) steps += 1;
  }
  return { groups, steps };
}

/** What ran again, and behind it what it had not come to. */
function followedBy({ groups, steps }: Behind, before: Behind): Behind {
  const known = groups.flatMap(({ orders }) => orders);
  const left = before.groups.filter(({ orders }) => !orders.some((order) => known.includes(order)));
  if (left.length > 0) return { groups: [...groups, ...left], steps: before.steps };
  const isSameLast = before.groups.at(-1)?.orders[0] === groups.at(-1)?.orders[0];
  return { groups, steps: isSameLast ? Math.max(steps, before.steps) : steps };
}

async function ifWhole<Opened>(
  codec: ThreadCodec,
  table: Table,
  key: string,
  open: (codec: ThreadCodec, record: StoredRecord) => Promise<Opened>,
): Promise<Opened | undefined> {
  try {
    const record = await codec.source.get(table, codec.thread, key);
    return record && (await open(codec, record));
  } catch (error) {
    faultOf(error);
    return undefined;
  }
}
