/**
 * The event log of a thread (A6). A commit stores what only it knows; what the ledger, the inbox and the waits hold already is
 * read from there, and comes in the place where it happened: between the commits before and after it.
 */

import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import { openEvents } from '../codec/open-events.ts';
import { marks } from '../codec/quarantine.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { type ReadAnswer, readAnswer } from '../codec/wait-codec.ts';
import type { Actor, EventRef, LoggedEvent, ThreadEvent } from '../model/event.ts';
import { type CheckpointId, sequenceOf, type WaitId } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';

export interface EventQuery {
  /** The `id` of the last event of an earlier page: go on behind its checkpoint. */
  readonly from?: string;
  /** Commits whose events are read at most. Default 100. */
  readonly limit?: number;
}

/** The events of the commits behind `from`, oldest first; of the last page also those that no commit follows yet. */
export async function readEvents(
  codec: ThreadCodec,
  row: ThreadRow,
  { from, limit = 100 }: EventQuery = {},
): Promise<readonly LoggedEvent[]> {
  const after = from?.slice(0, from.lastIndexOf('.'));
  const reader = new LogReader(codec);
  const range = after === undefined ? {} : { from: `${after}~` };
  const records = await codec.source.range('events', codec.thread, { ...range, to: marks.from, limit });
  const [first] = records;
  if (after !== undefined) await reader.goTo(after);
  else if (first !== undefined && sequenceOf(first.key) !== 0) await reader.goToBegin();
  const events: LoggedEvent[] = [];
  for (const record of records) events.push(...(await reader.block(record)));
  if (records.length < limit) events.push(...(await reader.rest(row)));
  return events;
}

class LogReader {
  readonly #codec: ThreadCodec;
  /** Number of the last entry of the ledger that was given to a commit. */
  #ledger = 0;
  #open: WaitId[] = [];
  #last = 'begin';

  constructor(codec: ThreadCodec) {
    this.#codec = codec;
  }

  /** The begin of a log whose older part was taken away: so were the entries of the ledger that belonged to it. */
  async goToBegin(): Promise<void> {
    const [oldest] = await this.#codec.source.range('ledger', this.#codec.thread, { limit: 1 });
    if (oldest !== undefined) this.#ledger = Number.parseInt(oldest.key, 16) - 1;
  }

  /** Finds out what was open behind this checkpoint: back to a commit after which nothing can have been. */
  async goTo(checkpoint: string): Promise<void> {
    const before: StoredRecord[] = [];
    for (let to = `${checkpoint}~`; ; ) {
      const [record] = await this.#codec.source.range('events', this.#codec.thread, { to, reverse: true, limit: 1 });
      if (record === undefined) break;
      before.unshift(record);
      to = record.key;
      const events = await eventsOf(this.#codec, record);
      if (before.length > 1 && events.some(({ type }) => type !== 'waiting' && type !== 'resumed')) break;
    }
    const [first] = before;
    if (first === undefined) await this.goToBegin(); // all of it was taken away since that page was read
    for (const record of before) {
      const events = await eventsOf(this.#codec, record);
      if (record === first) this.#ledger = ledgerOf(events) ?? 0;
      await this.block(record);
    }
  }

  /** What happened up to this commit, and the commit's own events. */
  async block(record: StoredRecord): Promise<readonly LoggedEvent[]> {
    const checkpoint = record.key as CheckpointId;
    const stored = await eventsOf(this.#codec, record);
    const isRepair = stored.some(({ type }) => type === 'repaired');
    const upTo = ledgerOf(stored) ?? this.#ledger;
    const untilMs = stored.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
    const found = isRepair ? [] : [...(await this.#effects(upTo)), ...(await this.#answers(untilMs))];
    found.sort((a, b) => a.atMs - b.atMs);
    this.#ledger = Math.max(this.#ledger, upTo);
    this.#last = checkpoint;
    for (const { details } of stored) {
      if (typeof details.ids === 'string') this.#open.push(...(details.ids.split(' ') as WaitId[]));
    }
    const own = stored.map((event) => logged(event, checkpoint));
    return [...found, ...own].map((event, index) => ({ ...event, id: `${checkpoint}.${index}` }));
  }

  async rest(row: ThreadRow): Promise<readonly LoggedEvent[]> {
    const found = [...(await this.#effects(row.ledger)), ...(await this.#answers(Number.POSITIVE_INFINITY))];
    return found.sort((a, b) => a.atMs - b.atMs).map((event) => ({ ...event, id: `${this.#last}.~` }));
  }

  async #effects(upTo: number): Promise<LoggedEvent[]> {
    if (upTo <= this.#ledger) return [];
    const { entries, lost } = await readLedger(this.#codec, this.#ledger, upTo);
    const known = entries.filter(({ intent }) => intent.kind !== 'inputs').map(effectEvent);
    const gone = lost.map(({ number, reason }) => ({ ...lostEffect, details: { number, reason } }));
    return [...known, ...gone];
  }

  async #answers(untilMs: number): Promise<LoggedEvent[]> {
    const found: LoggedEvent[] = [];
    for (const id of [...this.#open]) {
      const answer = await readAnswer(this.#codec, id);
      if (answer === undefined || answer.atMs > untilMs) continue;
      this.#open = this.#open.filter((open) => open !== id);
      found.push(answerEvent(id, answer));
    }
    return found;
  }
}

const lostEffect: LoggedEvent = {
  id: '',
  type: 'effect',
  atMs: 0,
  by: { kind: 'engine', run: 0 },
  input: [],
  output: [],
  outcome: 'lost',
  details: {},
};

function effectEvent({ intent, outcome, doubt }: LedgerEntry): LoggedEvent {
  const { number, name, kind, attempt, key, step, effectClass, atMs, epoch } = intent;
  const isPerson = outcome?.by === 'person';
  return {
    id: '',
    type: 'effect',
    atMs,
    by: isPerson ? { kind: 'person' } : { kind: 'engine', run: epoch },
    input: [{ kind: 'ledger', number, part: 'i' }],
    output: outcome === undefined ? [] : [{ kind: 'ledger', number, part: 'o' }],
    outcome: outcome?.status ?? (doubt === undefined ? 'in_progress' : 'in_doubt'),
    details: { number, name, kind, effectClass, attempt, key, step, endedAtMs: (outcome ?? doubt)?.atMs ?? null },
  };
}

function answerEvent(id: WaitId, { answer, atMs }: ReadAnswer): LoggedEvent {
  const { decision } = answer;
  const isOurs = decision === 'expired' || decision === 'cancelled';
  return {
    id: '',
    type: 'answered',
    atMs,
    by: isOurs ? { kind: 'engine', run: 0 } : { kind: 'person' },
    input: [{ kind: 'wait', id, part: 'w' }],
    output: [{ kind: 'wait', id, part: 'a' }],
    outcome: decision,
    details: {},
  };
}

function logged({ type, atMs, details }: ThreadEvent, checkpoint: CheckpointId): LoggedEvent {
  const { order, ids, next, code, run } = details;
  const isFromPage = typeof order === 'number';
  const by: Actor = isFromPage ? { kind: 'page' } : { kind: 'engine', run: typeof run === 'number' ? run : 0 };
  const waits = typeof ids === 'string' ? ids.split(' ') : [];
  const asked = waits.map((id): EventRef => ({ kind: 'wait', id, part: 'w' }));
  const input: EventRef[] = isFromPage ? [{ kind: 'inbox', order }] : asked;
  const outcome = type === 'step' ? (next ?? 'end') : type === 'failed' ? (code ?? 'failed') : type;
  return {
    id: '',
    type,
    atMs,
    by,
    input,
    output: [{ kind: 'checkpoint', id: checkpoint }],
    outcome: String(outcome),
    details,
  };
}

function ledgerOf(events: readonly ThreadEvent[]): number | undefined {
  const count = events.at(-1)?.details.ledger;
  return typeof count === 'number' ? count : undefined;
}

/** A damaged record hides its own events, and no others. */
async function eventsOf(codec: ThreadCodec, record: StoredRecord): Promise<readonly ThreadEvent[]> {
  try {
    return (await openEvents(codec, record)).events;
  } catch (error) {
    faultOf(error);
    return [];
  }
}
