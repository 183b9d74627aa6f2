/**
 * Records that somebody changed who does not hold the keys, or moved, or that are another's: bytes, plain fields, format,
 * place. All of them must be refused.
 */

import type { ThreadCodec } from '../../src/codec/thread-codec.ts';
import type { PlainFields, StoredRecord } from '../../src/model/records.ts';
import { tables } from '../../src/model/records.ts';
import type { Corpus, Exhibit } from './corpus.ts';
import type { Dice } from './dice.ts';
import { mutated } from './hostile-bytes.ts';
import { hostileNames, hostileValue } from './hostile-values.ts';
import { isSame } from './same.ts';
import type { Specimen } from './specimen.ts';

export interface Case {
  readonly corpus: Corpus;
  readonly thread: Exhibit;
  readonly specimen: Specimen;
  readonly record: StoredRecord;
  /** Any other record, of either thread. */
  readonly other: StoredRecord;
  readonly isOfSameThread: boolean;
  readonly dice: Dice;
}

/** What was done, and what the store gives from then on. */
export interface Tampering {
  readonly what: string;
  readonly record: unknown;
}

type Tamper = (given: Case) => Tampering | undefined | Promise<Tampering | undefined>;

/** Something that really changes what is read; `undefined` where it would not. */
export async function tamper(given: Case): Promise<Tampering | undefined> {
  const done = await given.dice.pick(tampers)(given);
  return done === undefined || isTheSameRecord(done.record, given) ? undefined : done;
}

/** Whether nothing is changed by it. Plain fields that hold nothing are none, of whatever type. */
function isTheSameRecord(changed: unknown, { record }: Case): boolean {
  const { plain } = changed as StoredRecord;
  const withoutPlain = { ...(changed as StoredRecord), plain: record.plain };
  if (
    Object.keys(record.plain).length === 0 &&
    plain !== null &&
    plain !== undefined &&
    Object.keys(plain).length === 0
  ) {
    return isSame(withoutPlain, record);
  }
  return isSame(changed, record);
}

const tampers: readonly Tamper[] = [
  ({ dice, record, other }) => ({ what: 'bytes', record: { ...record, body: mutated(dice, record.body, other.body) } }),
  ({ dice, record, other }) => ({ what: 'bytes', record: { ...record, body: mutated(dice, record.body, other.body) } }),
  ({ dice, record }) => ({ what: 'no bytes', record: { ...record, body: hostileValue(dice) } }),
  ({ dice, record }) => ({ what: 'format', record: { ...record, format: hostileValue(dice) } }),
  ({ record, other }) => ({ what: 'body of another', record: { ...record, body: other.body } }),
  anotherRecord,
  plainFields,
  plainFields,
  movedHere,
  movedHere,
  movedHere,
  sealedAgain,
];

/** Not for inbox items of one thread: their order is the store's to give. */
function anotherRecord({ specimen, record, other, isOfSameThread }: Case): Tampering | undefined {
  const isItem = specimen.table === 'inbox' && isOfSameThread && typeof other.plain.dedupId === 'string';
  return isItem ? undefined : { what: 'another record', record: { ...other, key: record.key } };
}

function plainFields({ dice, record, other }: Case): Tampering | undefined {
  const names = Object.keys(record.plain);
  const changed: Record<string, unknown> = { ...record.plain };
  const kind = dice.below(5);
  if (kind === 0) return { what: 'plain fields', record: { ...record, plain: hostileValue(dice) } };
  if (kind === 1) return { what: 'plain fields of another', record: { ...record, plain: other.plain } };
  if (kind === 2) {
    const value = hostileValue(dice) ?? 0;
    Object.defineProperty(changed, dice.pick(hostileNames), { value, enumerable: true, configurable: true });
    return { what: 'a plain field more', record: { ...record, plain: changed } };
  }
  if (names.length === 0) return undefined;
  const name = dice.pick(names);
  if (kind === 3) delete changed[name];
  else changed[name] = dice.chance(0.3) ? disguised(record.plain[name]) : hostileValue(dice);
  // Zero is zero, with either sign.
  if (Object.is(changed[name], -0)) changed[name] = 1;
  return { what: `plain field ${name}`, record: { ...record, plain: changed } };
}

/** Another value of the kind that could be taken for this one. */
function disguised(value: string | number | null | undefined): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return new TextEncoder().encode(value);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return value === 0 ? 2 ** 64 : new TextDecoder().decode(bytes);
}

/** The same content, sealed with the right key, for a place that differs in one thing. */
async function movedHere({ dice, corpus, thread, specimen, record, other }: Case): Promise<Tampering | undefined> {
  const { codec } = thread;
  const opened = await openedBy(codec, specimen, record);
  const place = codec.place(specimen.table, keyOf(specimen, record), record.plain, record.format);
  const [changed, what] = dice.pick<() => readonly [Partial<typeof place>, string]>([
    () => [{ database: 'another' }, 'database'],
    () => [{ table: dice.pick(tables.filter((table) => table !== specimen.table)) }, 'table'],
    () => [{ thread: corpus.threads.find(({ hash }) => hash !== thread.hash)?.hash ?? thread.hash }, 'thread'],
    () => [{ incarnation: `${place.incarnation}x` as typeof place.incarnation }, 'incarnation'],
    () => [{ key: other.key === place.key ? `${place.key}0` : other.key }, 'key'],
    () => [{ format: 0 }, 'format'],
    () => [{ plain: { ...record.plain, more: 1 } }, 'plain fields'],
    () => [{ plain: withOneChanged(record.plain) }, 'plain fields'],
  ])();
  const body = await codec.sealer.seal({ ...place, ...changed }, opened.plaintext, opened.parentTag);
  return { what: `sealed for another ${what}`, record: { ...record, body } };
}

function withOneChanged(plain: PlainFields): PlainFields {
  const [name] = Object.keys(plain);
  return name === undefined ? { name: 'more' } : { ...plain, [name]: 'changed' };
}

/** Sealed anew: of a record whose tag is held elsewhere, another one; of all others, with a parent's tag that it never had. */
async function sealedAgain({ dice, thread, specimen, record }: Case): Promise<Tampering | undefined> {
  const { codec } = thread;
  const opened = await openedBy(codec, specimen, record);
  const place = codec.place(specimen.table, keyOf(specimen, record), record.plain);
  if (specimen.isTagged && dice.chance(0.5)) {
    return {
      what: 'sealed again',
      record: { ...record, body: await codec.sealer.seal(place, opened.plaintext, opened.parentTag) },
    };
  }
  if (opened.parentTag === null) {
    // Bytes that look like a parent's tag are put into an envelope that has none, or the other way round.
    const body = record.body.slice();
    body[3] = 1;
    return { what: "a parent's tag more", record: { ...record, body } };
  }
  if (dice.chance(0.5)) {
    const body = await codec.sealer.seal(place, opened.plaintext, dice.bytes(16));
    return { what: 'sealed for another parent', record: { ...record, body } };
  }
  const body = record.body.slice();
  body[24 + dice.below(16)] = dice.below(256);
  return { what: "the parent's tag", record: { ...record, body } };
}

function openedBy(codec: ThreadCodec, specimen: Specimen, record: StoredRecord) {
  return codec.openRecord(specimen.table, { ...record, key: keyOf(specimen, record) });
}

/** Inbox items are sealed under their deduplication id: the store gives the order. */
export function keyOf({ table }: Specimen, record: StoredRecord): string {
  return table === 'inbox' ? String(record.plain.dedupId) : record.key;
}
