/** Builds the groups that move a thread: everything encoded and sealed before a transaction opens (I3). */
import type { CheckpointCause, CheckpointKind, Control, Position } from '../model/checkpoint.ts';
import type { CommitGroup, Durability, OtherThread, RecordWrite, RowChange } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import { type CheckpointId, type CommitId, sequenceOf } from '../model/ids.ts';
import { type FieldImage, isLogImage, type LogImage, logLength, sealCheckpoint } from './checkpoint-codec.ts';
import { type RowControl, sealRowControl, type Travel } from './control-codec.ts';
import { tagOf } from './envelope.ts';
import { sealEvents } from './events-codec.ts';
import { nextLedgerDigest, type StoredIntent, sealIntent } from './ledger-codec.ts';
import { encodeSegments, type Segment, sealSegment } from './log-codec.ts';
import { BlobBatch, type ThreadCodec } from './thread-codec.ts';
import type { StateImage, ThreadImage } from './thread-image.ts';

/** What a step changed, after the reducers ran. */
export interface StateChange {
  readonly set: ReadonlyMap<string, unknown>;
  readonly append: ReadonlyMap<string, readonly unknown[]>;
  readonly remove: readonly string[];
  /** Log fields that begin anew with what is appended. Their span must have a fresh name. */
  readonly restart?: ReadonlySet<string>;
}

export const noChange: StateChange = { set: new Map(), append: new Map(), remove: [] };

export interface CheckpointPlan {
  readonly id: CheckpointId;
  readonly kind: CheckpointKind;
  readonly cause: CheckpointCause;
  readonly change: StateChange;
  readonly position: Position;
  readonly control: Control;
  /** The checkpoint that this one is made from, where that is not the head: its parent. */
  readonly onto?: StateImage;
  readonly agent: string;
  readonly agentVersion: number;
  readonly stateVersion: number;
  readonly atMs: number;
  /** Name for the log items of this stretch of the lineage. */
  readonly span: string;
  readonly events: readonly ThreadEvent[];
  /** Records of the same step: waits that open. */
  readonly records?: readonly RecordWrite[];
  readonly wakeUpAtMs?: number | null;
  /** Inbox items up to this order give nothing to do before more comes. */
  readonly inboxSeen?: number;
  readonly durability: Durability;
  /** Where a person goes back or edits, and where a repair falls back to before that. */
  readonly travel?: Travel | null;
  /** What the same group does to the thread that waits for this one. */
  readonly also?: OtherThread;
}

export interface BuiltGroup {
  readonly group: CommitGroup;
  /** The thread once the group is applied. */
  readonly image: ThreadImage;
}

/** @throws `value_not_storable` */
export async function buildCheckpoint(
  codec: ThreadCodec,
  before: ThreadImage,
  plan: CheckpointPlan,
): Promise<BuiltGroup> {
  const { row } = before;
  const state = plan.onto ?? before.state;
  const blobs = new BlobBatch();
  const { changed, segments } = await encodeChange(codec, state?.fields ?? new Map(), plan, blobs);
  const fields = new Map([...(state?.fields ?? []), ...changed]);
  for (const name of plan.change.remove) fields.delete(name);

  const isSnapshot = plan.kind === 'snapshot' || state === null;
  const body = {
    id: plan.id,
    parent: state?.checkpoint.id ?? null,
    kind: isSnapshot ? ('snapshot' as const) : ('delta' as const),
    parentTag: state?.checkpoint.tag ?? null,
    cause: plan.cause,
    stateVersion: plan.stateVersion,
    agent: plan.agent,
    agentVersion: plan.agentVersion,
    atMs: plan.atMs,
    position: plan.position,
    control: plan.control,
    base: isSnapshot ? plan.id : state.checkpoint.base,
    fields: isSnapshot ? fields : changed,
    removed: isSnapshot ? [] : plan.change.remove,
  };
  // Sealed side by side, as far as none needs the tag of another: a cipher's own way takes longer than its work.
  const [checkpointRecord, ...besides] = await Promise.all([
    sealCheckpoint(codec, body),
    ...segments.map((segment) => sealSegment(codec, segment)),
    ...(isSnapshot ? [] : sealEvents(codec, plan.id, plan.events)),
  ]);
  const tag = tagOf(checkpointRecord.body);
  const control: RowControl = {
    ...before.control,
    base: body.base,
    headTag: tag,
    ...(plan.travel && { travel: plan.travel }),
  };
  const rowChange = {
    head: plan.id,
    sequence: sequenceOf(plan.id) ?? row.sequence + 1,
    ledger: row.ledger,
    status: plan.control.status,
    inboxTaken: plan.inboxSeen ?? plan.control.inboxTaken,
    resumes: 0, // only a committed step says that the thread does not stop its worker (PROTOCOL 5)
    wakeUpAtMs: plan.wakeUpAtMs ?? null,
    updatedAtMs: plan.atMs,
  };
  const inChange = new Map([...begunAnew(state?.fields), ...changed]);
  const change = { ...body, tag, fields: inChange, removed: plan.change.remove };
  const [sealedRow, ...events] = await Promise.all([
    sealRowControl(codec, control, { ...row, ...rowChange }),
    ...(isSnapshot ? sealEvents(codec, plan.id, plan.events, change) : []),
  ]);
  const records = [checkpointRecord, ...besides, ...events, ...(plan.records ?? []), ...blobs.writes()];
  const commit = { id: plan.id as string as CommitId, durability: plan.durability, records, blobs };
  const built = finish(before, { ...rowChange, control: sealedRow }, control, commit);
  return {
    group: { ...built.group, ...(plan.also && { also: plan.also }) },
    image: {
      ...built.image,
      state: {
        checkpoint: { ...body, tag },
        fields,
        baseAtMs: isSnapshot ? plan.atMs : state.baseAtMs,
        sinceBase: isSnapshot ? 0 : state.sinceBase + 1,
      },
    },
  };
}

/** An effect's intent and, for a read, its outcome with it. */
export async function buildIntent(
  codec: ThreadCodec,
  before: ThreadImage,
  intent: StoredIntent,
  options: { id: CommitId; durability: Durability; blobs: BlobBatch; records?: readonly RecordWrite[] },
): Promise<BuiltGroup> {
  const digest = await nextLedgerDigest(codec, before.control.ledgerDigest, intent);
  const control: RowControl = { ...before.control, ledgerDigest: digest };
  const change = {
    head: before.row.head,
    sequence: before.row.sequence,
    ledger: intent.number,
    updatedAtMs: intent.atMs,
  };
  const [record, sealed] = await Promise.all([
    sealIntent(codec, intent, digest),
    sealRowControl(codec, control, { ...before.row, ...change }),
  ]);
  const records = [record, ...(options.records ?? []), ...options.blobs.writes()];
  return finish(before, { ...change, control: sealed }, control, { ...options, records });
}

interface Writes {
  readonly id: CommitId;
  readonly durability: Durability;
  readonly records: readonly RecordWrite[];
  readonly blobs: BlobBatch;
}

/**
 * A group with the conditions of every write of a runner, intents included, and the thread after it: with incarnation, epoch, head
 * and ledger as they were found, or not at all (PROTOCOL 2).
 */
function finish(
  before: ThreadImage,
  change: RowChange & Pick<ThreadImage['row'], 'head' | 'ledger' | 'sequence' | 'control'>,
  control: RowControl,
  { id, durability, records, blobs }: Writes,
): BuiltGroup {
  const { row } = before;
  const group: CommitGroup = {
    id,
    thread: row.thread,
    incarnation: row.incarnation,
    durability,
    conditions: [
      { kind: 'epoch', is: row.epoch },
      { kind: 'head', is: row.head },
      { kind: 'ledger', is: row.ledger },
      ...blobs.conditions(),
    ],
    records,
    row: change,
  };
  return { group, image: { ...before, row: { ...row, ...change }, control } };
}

async function encodeChange(
  codec: ThreadCodec,
  fields: ReadonlyMap<string, FieldImage>,
  { change, span }: CheckpointPlan,
  blobs: BlobBatch,
): Promise<{ changed: ReadonlyMap<string, FieldImage>; segments: readonly Segment[] }> {
  const changed = new Map<string, FieldImage>();
  const segments: Segment[] = [];
  for (const [name, value] of change.set) changed.set(name, await codec.encodeValue(value, name, blobs));
  for (const [name, items] of change.append) {
    const image = fields.get(name);
    const goesOn = image !== undefined && isLogImage(image) && !change.restart?.has(name);
    const log: LogImage = goesOn ? image : { spans: [] };
    const from = logLength(log);
    for (const segment of await encodeSegments(codec, name, span, from, items, blobs)) segments.push(segment);
    changed.set(name, extended(log, span, from, items.length));
  }
  return { changed, segments };
}

/**
 * Logs that go on under a new name, after a repair or going back: behind the same index under the old name lie items of what was
 * left. It stands in no parent, and whoever makes the state again from events needs it.
 */
function begunAnew(fields: ReadonlyMap<string, FieldImage> = new Map()): readonly (readonly [string, FieldImage])[] {
  return [...fields].filter(([, image]) => {
    const last = isLogImage(image) ? image.spans.at(-1) : undefined;
    return last !== undefined && last.from === last.to;
  });
}

function extended(log: LogImage, span: string, from: number, count: number): LogImage {
  const last = log.spans.at(-1);
  if (count === 0) return log;
  if (last?.span !== span) return { spans: [...log.spans, { span, from, to: from + count }] };
  return { spans: [...log.spans.slice(0, -1), { ...last, to: last.to + count }] };
}
