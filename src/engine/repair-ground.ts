/** Where a damaged thread can go on from: the newest state that is whole, and what its row says or, without it, its records. */
import { openRowControl, type Travel } from '../codec/control-codec.ts';
import { codecErrors } from '../codec/errors.ts';
import { readInbox } from '../codec/inbox-codec.ts';
import { readLedger } from '../codec/ledger-codec.ts';
import { openEvents } from '../codec/open-events.ts';
import { marks } from '../codec/quarantine.ts';
import { type Fault, faultOf, recoverState } from '../codec/recover-lineage.ts';
import { FieldCheck } from '../codec/references.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import { type CheckpointId, sequenceOf, type ThreadId } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import type { EnginePorts } from './ports.ts';

export interface Ground {
  readonly threadId: ThreadId;
  /** `null`: no checkpoint can be used, but every input is on record. */
  readonly state: StateImage | null;
  /** Checkpoints that are newer than that state, newest first. */
  readonly passedOver: readonly CheckpointId[];
  readonly faults: readonly Fault[];
  readonly ledger: { readonly count: number; readonly digest: Uint8Array };
  /** `null` where nobody went back, as far as is known. */
  readonly travel: Travel | null;
  /** Highest sequence number ever given. */
  readonly sequence: number;
}

/** What is known without any checkpoint. */
interface Footing extends Pick<Ground, 'threadId' | 'ledger' | 'travel'> {
  /** Tag of the row's head; `undefined` where the row does not say. */
  readonly headTag: Uint8Array | undefined;
  readonly faults: readonly Fault[];
}

/**
 * `undefined` if the thread is whole.
 *
 * @throws the fault of the head where nothing is left to go on from; `key_missing`, `format_unknown`: not damage.
 */
export async function findGround(ports: EnginePorts, codec: ThreadCodec, row: ThreadRow): Promise<Ground | undefined> {
  const footing = await footingOf(ports, codec, row);
  const known = await knownIds(codec);
  const isRowGood = footing.headTag !== undefined;
  // A good row says which is the head; a commit that came to nothing else leaves no record.
  const { head } = row;
  const older = head === null ? [] : [head, ...known.filter((id) => id < head)];
  const candidates = isRowGood ? older : known;
  const faults = [...footing.faults];
  const check = new FieldCheck(codec);
  const sequence = Math.max(row.sequence, ...known.slice(0, 1).map((id) => sequenceOf(id) ?? -1));
  let first: unknown;
  for (const [newer, id] of candidates.entries()) {
    try {
      const recovered = await recoverState(codec, id, newer === 0 ? footing.headTag : undefined);
      await check.check(recovered.image.fields);
      if (newer > 0) await inputsAfter(codec, row, recovered.image.checkpoint.control.inboxTaken);
      const all = unique([...faults, ...recovered.faults]);
      if (all.length === 0) return undefined;
      return { ...footing, sequence, state: recovered.image, passedOver: candidates.slice(0, newer), faults: all };
    } catch (error) {
      first ??= error;
      faults.push(faultOf(error));
    }
  }
  if (candidates.length === 0 && isRowGood) return undefined;
  // The key is proved by the inputs that open under it.
  const inputs = await inputsAfter(codec, row, 0);
  if (inputs === 0) throw first;
  return { ...footing, sequence, state: null, passedOver: candidates, faults: unique(faults) };
}

async function footingOf({ keyRing }: EnginePorts, codec: ThreadCodec, row: ThreadRow): Promise<Footing> {
  try {
    const control = await openRowControl(codec, row);
    const { threadId, headTag, ledgerDigest, travel } = control;
    return { threadId, headTag, travel, ledger: { count: row.ledger, digest: ledgerDigest }, faults: [] };
  } catch (error) {
    const fault = faultOf(error);
    const identity = await keyRing.identityOf(row.thread, row.incarnation);
    const isSame = identity.namespace === row.namespace && identity.owner === row.owner && identity.agent === row.agent;
    if (!isSame) throw error; // whose thread it is cannot be set right from here
    const ledger = await ledgerOf(codec, row);
    const travel = await travelOf(codec);
    return { threadId: identity.id, headTag: undefined, travel, ledger, faults: [fault] };
  }
}

/** The ledger by its records. An entry that only the row knows of counts as lost, not as never made. */
async function ledgerOf(codec: ThreadCodec, row: ThreadRow): Promise<Ground['ledger']> {
  const [newest] = await codec.source.range('ledger', codec.thread, { reverse: true, limit: 1 });
  const last = newest === undefined ? 0 : Number.parseInt(newest.key.slice(0, 10), 16);
  const { entries } = await readLedger(codec, Math.max(0, last - 1), last);
  return { count: Math.max(last, row.ledger), digest: entries.at(-1)?.digest ?? new Uint8Array(16) };
}

/** When a person last went back or edited, as the events say that there are. */
async function travelOf(codec: ThreadCodec): Promise<Travel | null> {
  for (const record of await codec.source.range('events', codec.thread, { to: marks.from, reverse: true })) {
    const opened = await openEvents(codec, record).catch((error) => void faultOf(error));
    const sequence = sequenceOf(record.key);
    if (sequence !== undefined && opened?.events.some(({ type }) => type === 'edited' || type === 'rolled_back'))
      return { sequence, isLost: false };
  }
  return null;
}

/** All checkpoints that there are or were, newest first: by their own records, or by their events. */
async function knownIds(codec: ThreadCodec): Promise<readonly CheckpointId[]> {
  const records: (readonly StoredRecord[])[] = [
    await codec.source.range('checkpoints', codec.thread, {}),
    await codec.source.range('events', codec.thread, {}),
  ];
  const ids = new Set(records.flat().flatMap(({ key }) => (sequenceOf(key) === undefined ? [] : [key])));
  return [...ids].sort().reverse() as CheckpointId[];
}

/**
 * The number of inputs behind `taken`, which are taken up again.
 *
 * @throws `record_missing`: one of them is not there any more.
 */
async function inputsAfter(codec: ThreadCodec, row: ThreadRow, taken: number): Promise<number> {
  const items = await readInbox(codec, taken);
  const gap = items.findIndex(({ order }, index) => order !== taken + 1 + index);
  const count = gap === -1 ? items.length : gap;
  if (taken + count < row.inbox) {
    const key = `o:${(taken + count + 1).toString(16).padStart(10, '0')}`;
    throw codecErrors.make('record_missing', { table: 'inbox', key, needed: 'running its steps again' });
  }
  return items.length;
}

function unique(faults: readonly Fault[]): readonly Fault[] {
  return [...new Map(faults.map((fault) => [`${fault.table}/${fault.key}`, fault])).values()];
}
