/** Wait slots (PROTOCOL 6): `w:<id>` asks, `a:<id>` is the one answer; it carries the digest of what was shown. */
import { equalBytes } from '../base/bytes.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { EffectKey, StepId, WaitId } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import type { Decision, Wait, WaitAnswer, WaitKind } from '../model/wait.ts';
import { BodyReader, storedItem } from './body.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { BlobBatch, type StoredValue, type ThreadCodec } from './thread-codec.ts';

function waitKey(wait: WaitId): string {
  return `w:${wait}`;
}

function answerKey(wait: WaitId): string {
  return `a:${wait}`;
}

/** @throws `value_not_storable` for what an author gave as text or time and is none: a wait that cannot be read would block its thread. */
export async function sealWait(codec: ThreadCodec, wait: Wait<StoredValue>): Promise<RecordWrite> {
  const { kind, step, tool, effectKey, args, reason, digest, openedAtMs, expiresAtMs } = wait;
  refuseNoText('the name of what is waited for', tool);
  refuseNoText('the reason of a wait', reason);
  if (!Number.isFinite(expiresAtMs ?? 0))
    refuse('the time until a wait expires', 'what is no number', 'give milliseconds');
  const body = packBody([kind, step, tool, effectKey, storedItem(args), reason, digest, openedAtMs, expiresAtMs]);
  return codec.sealRecord('waits', waitKey(wait.id), body);
}

/** The wait with its arguments decoded, or `undefined` if there is none. */
export async function readWait(codec: ThreadCodec, id: WaitId): Promise<Wait | undefined> {
  const record = await codec.source.get('waits', codec.thread, waitKey(id));
  if (record === undefined) return undefined;
  const reader = await bodyOf(codec, record);
  const wait = {
    id,
    kind: reader.text() as WaitKind,
    step: reader.text() as StepId,
    tool: reader.text(),
    effectKey: reader.text() as EffectKey,
    args: reader.stored(),
    reason: reader.text(),
    digest: reader.text(),
    openedAtMs: reader.number(),
    expiresAtMs: reader.numberOrNull(),
  };
  return { ...wait, args: await codec.decodeValue(wait.args) };
}

/** @throws `value_not_storable` for edited arguments or a result that cannot be kept. */
export async function sealAnswer(
  codec: ThreadCodec,
  wait: Pick<Wait, 'id' | 'digest'>,
  answer: WaitAnswer,
  atMs: number,
  blobs: BlobBatch,
): Promise<RecordWrite> {
  const body = packBody([...(await answerItems(codec, answer, blobs)), atMs, wait.digest]);
  return codec.sealRecord('waits', answerKey(wait.id), body);
}

/** Whether two answers say the same, values included. */
export async function isSameAnswer(codec: ThreadCodec, a: WaitAnswer, b: WaitAnswer): Promise<boolean> {
  const blobs = new BlobBatch();
  const [first, second] = await Promise.all([answerItems(codec, a, blobs), answerItems(codec, b, blobs)]);
  return equalBytes(packBody(first), packBody(second));
}

async function answerItems(codec: ThreadCodec, answer: WaitAnswer, blobs: BlobBatch): Promise<readonly unknown[]> {
  const { decision } = answer;
  const given = givenIn(answer);
  const stored = given === undefined ? null : storedItem(await codec.encodeValue(given, 'answer', blobs));
  const reason = decision === 'deny' ? (answer.reason ?? '') : '';
  refuseNoText('the reason of an answer', reason);
  const forThread = decision === 'allow' && answer.forThread === true;
  return [decision, stored, reason, forThread, decision === 'arrived' ? answer.order : null];
}

function refuseNoText(path: string, given: unknown): void {
  if (typeof given !== 'string') refuse(path, `a ${typeof given}`, 'give a text');
}

function refuse(path: string, found: string, hint: string): never {
  throw codecErrors.make('value_not_storable', { path, found, hint });
}

function givenIn(answer: WaitAnswer): unknown {
  switch (answer.decision) {
    case 'allow':
      return answer.args;
    case 'done':
      return answer.result;
    case 'reply':
    case 'arrived':
    case 'ended':
      return answer.value;
    default:
      return undefined;
  }
}

export interface ReadAnswer {
  readonly answer: WaitAnswer;
  readonly atMs: number;
  readonly digest: string;
}

export async function readAnswer(codec: ThreadCodec, id: WaitId): Promise<ReadAnswer | undefined> {
  const record = await codec.source.get('waits', codec.thread, answerKey(id));
  if (record === undefined) return undefined;
  const reader = await bodyOf(codec, record);
  const decision = reader.text() as Decision;
  const stored = reader.storedOrNull();
  const [reason, forThread, order] = [reader.text(), reader.flag(), reader.numberOrNull()];
  const [atMs, digest] = [reader.number(), reader.text()];
  const value = stored === null ? undefined : await codec.decodeValue(stored);
  return { answer: answerFrom({ decision, value, reason, forThread, order }, record.key), atMs, digest };
}

interface AnswerParts {
  readonly decision: Decision;
  readonly value: unknown;
  readonly reason: string;
  readonly forThread: boolean;
  readonly order: number | null;
}

function answerFrom({ decision, value, reason, forThread, order }: AnswerParts, key: string): WaitAnswer {
  switch (decision) {
    case 'allow':
      return { decision, forThread, ...(value !== undefined && { args: value }) };
    case 'deny':
      return { decision, reason };
    case 'done':
      return { decision, result: value };
    case 'reply':
    case 'ended':
      return { decision, value };
    case 'arrived':
      return { decision, value, order: order ?? 0 };
    case 'elapsed':
    case 'online':
    case 'expired':
    case 'cancelled':
    case 'not_done':
    case 'give_up':
      return { decision };
    default:
      throw codecErrors.make('record_damaged', {
        table: 'waits',
        key,
        reason: `its decision is "${String(decision)}"`,
      });
  }
}

async function bodyOf(codec: ThreadCodec, record: StoredRecord): Promise<BodyReader> {
  const { plaintext } = await codec.openRecord('waits', record);
  return BodyReader.of(plaintext, { table: 'waits', key: record.key });
}

/** All waits of the thread that were ever opened, and are kept. */
export async function allWaits(codec: ThreadCodec): Promise<readonly WaitId[]> {
  const records = await codec.source.range('waits', codec.thread, { from: 'w:', to: 'w;' });
  return records.map(({ key }) => key.slice(2) as WaitId);
}
