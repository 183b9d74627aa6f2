/** What a compaction keeps: decided from records that were opened, before anything is deleted. */
import { baseKey, openCheckpoint } from '../codec/checkpoint-codec.ts';
import { codecErrors } from '../codec/errors.ts';
import { readLedger } from '../codec/ledger-codec.ts';
import { openEvents } from '../codec/open-events.ts';
import { isStale, type KnownThreads, pinnedBy } from '../codec/pin-codec.ts';
import { marks, readMarks } from '../codec/quarantine.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import { FieldCheck } from '../codec/references.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, type StateImage } from '../codec/thread-image.ts';
import type { ThreadEvent } from '../model/event.ts';
import { type CheckpointId, sequenceOf } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import { dayMs, type RetentionPolicy } from '../model/retention.ts';

export interface Retained extends Floor {
  /** All records of checkpoints, base records included, oldest first. */
  readonly records: readonly StoredRecord[];
  /** Ids of the checkpoints that stay. */
  readonly kept: ReadonlySet<string>;
  /** The states of those that stay and open. */
  readonly images: ReadonlyMap<CheckpointId, StateImage>;
  /** Pins of forks that are no more; as they were when that was seen. */
  readonly stalePins: ReadonlySet<StoredRecord>;
  /** Those that need a base record before their parent goes. */
  readonly leaning: readonly CheckpointId[];
  /** `<table>/<key>` of the records that a repair marked: they stay. */
  readonly marked: ReadonlySet<string>;
  /** When the thread was repaired last, or 0: a step that runs again after that finds its answers, which are older. */
  readonly repairedAtMs: number;
}

/** Where the records of the past begin that a restore or the event log still needs; ledger and inbox among them (PROTOCOL 4). */
interface Floor {
  /** Events from this key on stay. */
  readonly eventsFrom: string;
  /** Ledger entries above this number stay, and inbox items above this order. */
  readonly ledgerAfter: number;
  readonly inboxAfter: number;
  /** Answered waits that were opened earlier go. */
  readonly waitsFromMs: number;
}

export interface RetentionQuestion {
  readonly policy: RetentionPolicy;
  /** Checkpoints that others need: where a fork began, where a person wants to go back to. */
  readonly pins: readonly CheckpointId[];
  readonly nowMs: number;
}

/**
 * `undefined` for a thread without checkpoints.
 *
 * @throws `record_damaged`, `record_missing` where the head's own state is not whole: it is repaired first, from what a compaction
 *   would take away.
 */
export async function retainedBy(
  store: KnownThreads,
  codec: ThreadCodec,
  { head, ledger }: ThreadRow,
  question: RetentionQuestion,
): Promise<Retained | undefined> {
  if (head === null) return undefined;
  const { policy, pins } = question;
  const records = await codec.source.range('checkpoints', codec.thread, {});
  const keys = new Set(records.map(({ key }) => key));
  if (!keys.has(head))
    throw codecErrors.make('record_missing', { table: 'checkpoints', key: head, needed: 'a compaction' });
  const all = records.filter(({ key }) => sequenceOf(key) !== undefined);
  const quarantine = await readMarks(codec);
  const marked = new Set(quarantine.map(({ table, key }) => `${table}/${key}`));
  const repairedAtMs = Math.max(0, ...quarantine.map(({ atMs }) => atMs));
  const tips = await tipsAmong(codec, all);
  const { forked, stale } = await pinsAmong(store, codec, records);
  const kept = new Set<string>([...[head, ...pins, ...tips].filter((id) => keys.has(id)), ...forked]);
  const images = new Map<CheckpointId, StateImage>();
  const check = new FieldCheck(codec);
  let taken = 0;
  for (const { key, plain } of [...all].reverse()) {
    if (!kept.has(key) && taken >= policy.keepCheckpoints && images.size >= 2) continue;
    kept.add(key);
    taken += 1;
    try {
      const image = await openStateImage(codec, key as CheckpointId);
      await check.check(image.fields);
      images.set(key as CheckpointId, image);
    } catch (error) {
      if (key === head) throw error;
      faultOf(error);
      // What its events could make of it again leans on its parent. One that a repair passed over is no use any more.
      if (!marked.has(`checkpoints/${key}`) && typeof plain.parent === 'string') kept.add(plain.parent);
    }
  }
  const isLeaning = ({ key, plain }: StoredRecord) =>
    plain.kind === 'delta' && !kept.has(String(plain.parent)) && !keys.has(baseKey(key as CheckpointId));
  // An input may take the run that is under way back to where it began.
  const { status, run } = images.get(head)?.checkpoint.control ?? {};
  const began = status === 'done' || status === 'cancelled' ? null : (run?.began ?? null);
  if (began !== null && keys.has(began) && !images.has(began)) {
    kept.add(began);
    const image = await openStateImage(codec, began).catch((error) => void faultOf(error));
    if (image !== undefined) images.set(began, image);
  }
  const leaning = all.filter((record) => images.has(record.key as CheckpointId) && isLeaning(record));
  const leaningIds = leaning.map(({ key }) => key as CheckpointId);
  const floor = await floorOf(codec, images, new Set(leaningIds), question);
  const ledgerAfter = await madeAfter(codec, floor.ledgerAfter, ledger);
  return { records, kept, images, stalePins: stale, leaning: leaningIds, marked, repairedAtMs, ...floor, ledgerAfter };
}

/** Down to the calls that were really made whose results were passed on to those above: only their entries tell key and undoing. */
async function madeAfter(codec: ThreadCodec, after: number, count: number): Promise<number> {
  const { entries } = await readLedger(codec, after, count);
  const sources = entries.map(({ outcome }) => outcome?.source ?? after + 1);
  const first = Math.min(after + 1, ...sources);
  return first > after ? after : madeAfter(codec, first - 1, count);
}

/**
 * The newest checkpoint of each lineage. An older one without a child is none: its child was taken away while a fork, or somebody's
 * pin, held it. One that does not open is not given up.
 */
async function tipsAmong(codec: ThreadCodec, all: readonly StoredRecord[]): Promise<readonly string[]> {
  const parents = new Set(all.map(({ plain }) => plain.parent));
  const tips = new Map<string, string>();
  for (const record of all.filter(({ key }) => !parents.has(key))) {
    const checkpoint = await openCheckpoint(codec, record).catch((error) => void faultOf(error));
    tips.set(checkpoint?.control.lineage ?? record.key, record.key); // in the order of their keys
  }
  return [...tips.values()];
}

/** Checkpoints that threads were, or are being, forked from; one whose pin does not open is not given up. */
async function pinsAmong(
  store: KnownThreads,
  codec: ThreadCodec,
  records: readonly StoredRecord[],
): Promise<{ readonly forked: readonly CheckpointId[]; readonly stale: ReadonlySet<StoredRecord> }> {
  const forked: CheckpointId[] = [];
  const stale = new Set<StoredRecord>();
  for (const record of records) {
    const checkpoint = pinnedBy(record.key);
    if (checkpoint === undefined) continue;
    if (await isStale(store, codec, record).catch((error) => void faultOf(error))) stale.add(record);
    else forked.push(checkpoint);
  }
  return { forked, stale };
}

async function floorOf(
  codec: ThreadCodec,
  images: ReadonlyMap<CheckpointId, StateImage>,
  leaning: ReadonlySet<CheckpointId>,
  { policy, nowMs }: RetentionQuestion,
): Promise<Floor> {
  const states = [...images.values()].map(({ checkpoint }) => checkpoint);
  const snapshots = [...images].filter(([id, { sinceBase }]) => sinceBase === 0 || leaning.has(id)).map(([id]) => id);
  const [, second = ''] = snapshots.sort().reverse(); // events are pruned only behind the second-newest (PROTOCOL 8)
  const floor = {
    // A result that going back left on offer, and a call that is still to be undone, stand before any step that may run again.
    ledgerAfter: Math.min(
      ...states.flatMap(({ control: { ledger, past } }) => [
        ledger.from,
        ...past.choices.map(({ entry }) => entry - 1),
      ]),
    ),
    inboxAfter: Math.min(...states.map(({ control }) => control.inboxTaken)),
    waitsFromMs: Math.min(...states.map(({ atMs }) => atMs)),
  };
  // What steps that run again after a repair saw of clock and chance stands with the events of those that ran before.
  if (states.some(({ control }) => control.ledger.replay !== null)) return { ...floor, eventsFrom: '' };
  const oldest = [second, ...images.keys()].sort()[0] ?? '';
  let ledgerBefore = 0;
  for (const record of await codec.source.range('events', codec.thread, { to: marks.from })) {
    const { key } = record;
    const stored = await eventsIn(codec, record);
    const [first] = stored;
    const isOld = first !== undefined && first.atMs < nowMs - policy.eventDays * dayMs;
    if (!isOld || key >= oldest) {
      // What the log shows of this commit and those after it stands in the ledger, the inbox and the waits.
      const orders = stored.map(({ details }) => (typeof details.order === 'number' ? details.order : Infinity));
      return {
        eventsFrom: key,
        ledgerAfter: Math.min(floor.ledgerAfter, ledgerBefore),
        inboxAfter: Math.min(floor.inboxAfter, ...orders.map((order) => order - 1)),
        waitsFromMs: Math.min(floor.waitsFromMs, first?.atMs ?? floor.waitsFromMs),
      };
    }
    const { ledger } = stored.at(-1)?.details ?? {};
    if (typeof ledger === 'number') ledgerBefore = ledger;
  }
  return { ...floor, eventsFrom: oldest };
}

async function eventsIn(codec: ThreadCodec, record: StoredRecord): Promise<readonly ThreadEvent[]> {
  try {
    return (await openEvents(codec, record)).events;
  } catch (error) {
    faultOf(error);
    return [];
  }
}
