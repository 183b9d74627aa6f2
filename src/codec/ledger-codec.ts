/**
 * The ledger: one immutable record for each intent, `<number>.i`, and beside it the outcome `.o`, the doubt `.d`, any later
 * outcome that differs `.x<random>`, and the space that is kept for the outcome `.r`. Numbers are consecutive, and each intent carries the digest over all before it:
 * a lost entry shows as a hole (PROTOCOL 3).
 */
import type { RecordWrite } from '../model/commit.ts';
import type { Doubt, EffectClass, EffectKind, Intent, Outcome, OutcomeStatus, SettledBy } from '../model/effect.ts';
import { type CommitId, type EffectKey, type StepId, sortable } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import { BodyReader, errorItem, storedItem } from './body.ts';
import { packBody } from './packer.ts';
import { recordFormat, type StoredValue, sameStored, type ThreadCodec } from './thread-codec.ts';

export type StoredIntent = Intent<StoredValue>;
export type StoredOutcome = Outcome<StoredValue>;

export interface LedgerEntry {
  readonly intent: StoredIntent;
  /** The group that wrote the intent: what its outcome is conditional on. */
  readonly commit: CommitId;
  readonly digest: Uint8Array;
  readonly outcome: StoredOutcome | undefined;
  readonly doubt: Doubt | undefined;
}

export function ledgerKey(number: number, part: 'i' | 'o' | 'd' | 'r'): string {
  return `${sortable(number)}.${part}`;
}

/** The running digest after an intent: keyed hash over the one before, number, effect key, attempt and arguments. */
export function nextLedgerDigest(codec: ThreadCodec, before: Uint8Array, intent: StoredIntent): Promise<Uint8Array> {
  return codec.sealer.digest(
    'ledger',
    before,
    intent.number,
    intent.key,
    intent.attempt,
    intent.name,
    intent.askedDigest,
  );
}

export function sealIntent(codec: ThreadCodec, intent: StoredIntent, digest: Uint8Array): Promise<RecordWrite> {
  const body = packBody([
    intent.key,
    intent.step,
    intent.attempt,
    intent.kind,
    intent.name,
    intent.effectClass,
    intent.askedDigest,
    storedItem(intent.args),
    intent.notAfterMs,
    intent.atMs,
    intent.epoch,
    intent.inputs,
    digest,
  ]);
  return codec.sealRecord('ledger', ledgerKey(intent.number, 'i'), body);
}

export function sealOutcome(
  codec: ThreadCodec,
  number: number,
  outcome: StoredOutcome,
  suffix = '',
): Promise<RecordWrite> {
  const { status, value, error, by, atMs, final } = outcome;
  const items = [status, value === null ? null : storedItem(value), errorItem(error), by, atMs, final];
  const body = packBody(outcome.source === undefined ? items : [...items, outcome.source]);
  const key = suffix === '' ? ledgerKey(number, 'o') : `${sortable(number)}.x${suffix}`;
  return codec.sealRecord('ledger', key, body);
}

export function sealDoubt(codec: ThreadCodec, number: number, doubt: Doubt): Promise<RecordWrite> {
  return codec.sealRecord('ledger', ledgerKey(number, 'd'), packBody([errorItem(doubt.reason), doubt.atMs]), {
    mode: 'replace',
  });
}

/** Enough for how a call ended, and a short result or the reason why a long one is not there. */
const reservedBytes = 1_024;

/** Space that an intent takes for its outcome, so that a call which was made can be said to have been (PROTOCOL 8). */
export function sealReserve(codec: ThreadCodec, number: number): Promise<RecordWrite> {
  return codec.sealRecord('ledger', ledgerKey(number, 'r'), packBody([new Uint8Array(reservedBytes)]));
}

/** Gives the space back, in the group that needs it. The record stays, empty. */
export function freedReserve(number: number): RecordWrite {
  const empty = { format: recordFormat, plain: {}, body: new Uint8Array(0) };
  return { table: 'ledger', key: ledgerKey(number, 'r'), ...empty, mode: 'replace' };
}

/** The outcome on record of this entry, if there is one. @throws `record_damaged` */
export async function readOutcome(codec: ThreadCodec, number: number): Promise<StoredOutcome | undefined> {
  const record = await codec.source.get('ledger', codec.thread, ledgerKey(number, 'o'));
  return record && openOutcome(codec, record);
}

/** The doubt on record about this entry, if there is one. @throws `record_damaged` */
export async function readDoubt(codec: ThreadCodec, number: number): Promise<Doubt | undefined> {
  const record = await codec.source.get('ledger', codec.thread, ledgerKey(number, 'd'));
  return record && openDoubt(codec, record);
}

/** Whether two outcomes say the same: how it ended, and with which result. */
export function saysTheSame(a: StoredOutcome, b: StoredOutcome): boolean {
  return a.status === b.status && sameStored(a.value, b.value);
}

export interface LedgerSlice {
  readonly entries: readonly LedgerEntry[];
  /** Numbers from `after + 1` to `count` whose intent is missing or does not open, with the reason. */
  readonly lost: readonly { readonly number: number; readonly reason: string }[];
}

/** All entries with numbers above `after` up to `count`. A record that does not open counts as lost, not as never made. */
export async function readLedger(codec: ThreadCodec, after: number, count: number): Promise<LedgerSlice> {
  const records = await codec.source.range('ledger', codec.thread, {
    from: sortable(after + 1),
    to: sortable(count + 1),
  });
  const byKey = new Map(records.map((record) => [record.key, record]));
  const entries: LedgerEntry[] = [];
  const lost: { number: number; reason: string }[] = [];
  for (let number = after + 1; number <= count; number += 1) {
    const record = byKey.get(ledgerKey(number, 'i'));
    if (record === undefined) {
      lost.push({ number, reason: 'missing' });
      continue;
    }
    try {
      entries.push(await openEntry(codec, number, record, byKey));
    } catch (error) {
      lost.push({ number, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { entries, lost };
}

async function openEntry(
  codec: ThreadCodec,
  number: number,
  record: StoredRecord,
  records: ReadonlyMap<string, StoredRecord>,
): Promise<LedgerEntry> {
  const outcome = records.get(ledgerKey(number, 'o'));
  const doubt = records.get(ledgerKey(number, 'd'));
  return {
    ...(await openIntent(codec, number, record)),
    commit: record.commit,
    outcome: outcome && (await openOutcome(codec, outcome)),
    doubt: doubt && (await openDoubt(codec, doubt)),
  };
}

async function openIntent(codec: ThreadCodec, number: number, record: StoredRecord) {
  const reader = await bodyOf(codec, record);
  const intent: StoredIntent = {
    number,
    key: reader.text() as EffectKey,
    step: reader.text() as StepId,
    attempt: reader.number(),
    kind: reader.text() as EffectKind,
    name: reader.text(),
    effectClass: reader.text() as EffectClass,
    askedDigest: reader.text(),
    args: reader.stored(),
    notAfterMs: reader.number(),
    atMs: reader.number(),
    epoch: reader.number(),
    inputs: reader.list().map((item) => {
      const pair = item.nested();
      return [pair.text(), pair.number()] as const;
    }),
  };
  return { intent, digest: reader.bytes() };
}

async function openOutcome(codec: ThreadCodec, record: StoredRecord): Promise<StoredOutcome> {
  const reader = await bodyOf(codec, record);
  return {
    status: reader.text() as OutcomeStatus,
    value: reader.storedOrNull(),
    error: reader.errorOrNull(),
    by: reader.text() as SettledBy,
    atMs: reader.number(),
    final: reader.flag(),
    ...(reader.hasMore && { source: reader.number() }),
  };
}

async function openDoubt(codec: ThreadCodec, record: StoredRecord): Promise<Doubt> {
  const reader = await bodyOf(codec, record);
  return { reason: reader.error(), atMs: reader.number() };
}

async function bodyOf(codec: ThreadCodec, record: StoredRecord): Promise<BodyReader> {
  const { plaintext } = await codec.openRecord('ledger', record);
  return BodyReader.of(plaintext, { table: 'ledger', key: record.key });
}
