/** Bodies of checkpoints (docs/format.md): position, control and the fields that a snapshot holds or a delta changes. */
import { equalBytes } from '../base/bytes.ts';
import type {
  CheckpointCause,
  CheckpointInfo,
  CheckpointKind,
  Control,
  Position,
  Replay,
  ScheduledStep,
} from '../model/checkpoint.ts';
import type { RecordWrite } from '../model/commit.ts';
import { type CheckpointId, type StepId, sequenceOf, type WaitId } from '../model/ids.ts';
import type { InboxReplay, ReplayedItems } from '../model/inbox.ts';
import type { StoredRecord, ThreadStatus } from '../model/records.ts';
import { BodyReader, errorItem, storedItem } from './body.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { pastItems, readPast } from './past-codec.ts';
import type { StoredValue, ThreadCodec } from './thread-codec.ts';

/** Consecutive items `from` to `to` (exclusive) of a log, written under the span's name. */
export interface LogSpan {
  readonly span: string;
  readonly from: number;
  readonly to: number;
}

/** A log field as a checkpoint knows it: which spans hold its items, in order. */
export interface LogImage {
  readonly spans: readonly LogSpan[];
}

export type FieldImage = StoredValue | LogImage;

export function isLogImage(image: FieldImage): image is LogImage {
  return 'spans' in image;
}

export function logLength(image: LogImage): number {
  return image.spans.at(-1)?.to ?? 0;
}

export interface CheckpointBody {
  readonly cause: CheckpointCause;
  readonly stateVersion: number;
  readonly agent: string;
  readonly agentVersion: number;
  readonly atMs: number;
  readonly position: Position;
  readonly control: Control;
  /** The newest snapshot in the lineage: the checkpoint itself if it is one. */
  readonly base: CheckpointId;
  /** All fields of a snapshot; the changed ones of a delta. */
  readonly fields: ReadonlyMap<string, FieldImage>;
  /** Fields that a delta takes away. */
  readonly removed: readonly string[];
}

export interface Checkpoint extends CheckpointBody {
  readonly id: CheckpointId;
  readonly parent: CheckpointId | null;
  readonly kind: CheckpointKind;
  readonly tag: Uint8Array;
  readonly parentTag: Uint8Array | null;
}

export async function sealCheckpoint(codec: ThreadCodec, checkpoint: Omit<Checkpoint, 'tag'>): Promise<RecordWrite> {
  const { id, parent, kind, parentTag, ...body } = checkpoint;
  return codec.sealRecord('checkpoints', id, packBody(bodyItems(body)), { plain: { parent, kind }, parentTag });
}

/** The key of a base record: it stands for a delta whose parent was deleted, and holds all its fields. */
export function baseKey(id: CheckpointId): string {
  return `${id}.base`;
}

export function isBaseKey(key: string): boolean {
  return key.endsWith('.base');
}

/** All fields of a checkpoint from its base record. @throws `record_damaged`, `format_unknown` */
export async function openBase(codec: ThreadCodec, record: StoredRecord, checkpoint: Checkpoint): Promise<Checkpoint> {
  const { plaintext, parentTag } = await codec.openRecord('checkpoints', record);
  const where = { table: 'checkpoints', key: record.key };
  if (parentTag === null || !equalBytes(parentTag, checkpoint.tag)) {
    throw codecErrors.make('record_damaged', { ...where, reason: 'it stands for another checkpoint' });
  }
  return { ...checkpoint, ...readBody(BodyReader.of(plaintext, where)), kind: 'snapshot' };
}

/** @throws `record_damaged`, `format_unknown` */
export async function openCheckpoint(codec: ThreadCodec, record: StoredRecord): Promise<Checkpoint> {
  const { plaintext, tag, parentTag } = await codec.openRecord('checkpoints', record);
  const where = { table: 'checkpoints', key: record.key };
  const { parent, kind } = record.plain;
  const body = readBody(BodyReader.of(plaintext, where));
  return {
    ...body,
    id: record.key as CheckpointId,
    parent: parent as CheckpointId | null,
    kind: kind as CheckpointKind,
    tag,
    parentTag,
  };
}

export function checkpointInfo(checkpoint: Checkpoint): CheckpointInfo {
  const { id, parent, kind, cause, atMs, agent, agentVersion, stateVersion, position, control } = checkpoint;
  return {
    id,
    parent,
    sequence: sequenceOf(id) ?? 0,
    kind,
    cause,
    atMs,
    agent,
    agentVersion,
    stateVersion,
    position,
    control,
  };
}

export function bodyItems(body: CheckpointBody): unknown[] {
  const { position, control } = body;
  return [
    body.cause,
    body.stateVersion,
    body.agent,
    body.agentVersion,
    body.atMs,
    [position.node, position.step, position.next.map((s) => [s.node, s.step, s.path]), mapOf(position.visits)],
    controlItems(control),
    body.base,
    new Map([...body.fields].map(([name, image]) => [name, fieldItem(image)])),
    body.removed,
    ...pastItems(control.past),
  ];
}

export function readBody(reader: BodyReader): CheckpointBody {
  const body = {
    cause: reader.text() as CheckpointCause,
    stateVersion: reader.number(),
    agent: reader.text(),
    agentVersion: reader.number(),
    atMs: reader.number(),
    position: readPosition(reader.nested()),
    control: readControl(reader.nested()),
    base: reader.text() as CheckpointId,
    fields: new Map(reader.entries().map(([name, item]) => [name, readField(item)])),
    removed: reader.list().map((item) => item.text()),
  };
  return { ...body, control: { ...body.control, past: readPast(reader) } };
}

function readPosition(reader: BodyReader): Position {
  return {
    node: reader.textOrNull(),
    step: reader.textOrNull() as StepId | null,
    next: reader.list().map((item): ScheduledStep => {
      const step = item.nested();
      return { node: step.text(), step: step.text() as StepId, path: step.text() };
    }),
    visits: Object.fromEntries(reader.entries().map(([node, item]) => [node, item.number()])),
  };
}

function controlItems({ run, ledger, epoch, usage, limits, spent, failure, ...control }: Control): unknown[] {
  return [
    control.status,
    [run.steps, run.maxSteps, run.input, run.began],
    [ledger.count, ledger.digest, ledger.from, ...replayItems(ledger.replay)],
    control.inboxTaken,
    control.consumed,
    [epoch.home, epoch.local],
    control.lineage,
    control.waits,
    control.grants,
    [usage.inputTokens, usage.outputTokens, usage.cost],
    mapOf(control.retries),
    mapOf(control.branches),
    mapOf(control.decisions),
    control.resumes,
    [limits.runMs, limits.tokens, limits.cost],
    [spent.ms, spent.tokens, spent.cost],
    control.stepFromMs,
    control.seenAtMs,
    errorItem(failure),
    ...inboxReplayItems(control.inboxReplay),
  ];
}

function readControl(reader: BodyReader): Omit<Control, 'past'> {
  const status = reader.text() as ThreadStatus;
  const [run, ledger] = [reader.nested(), reader.nested()];
  const inboxTaken = reader.number();
  const consumed = reader.list().map((item) => item.number());
  const epoch = reader.nested();
  const lineage = reader.text();
  const waits = reader.list().map((item) => item.text() as WaitId);
  const grants = reader.list().map((item) => item.text());
  const usage = reader.nested();
  return {
    status,
    run: {
      steps: run.number(),
      maxSteps: run.number(),
      input: run.number(),
      began: run.textOrNull() as CheckpointId | null,
    },
    ledger: readLedgerMark(ledger),
    inboxTaken,
    consumed,
    epoch: { home: epoch.number(), local: epoch.number() },
    lineage,
    waits,
    grants,
    usage: { inputTokens: usage.number(), outputTokens: usage.number(), cost: usage.number() },
    retries: Object.fromEntries(reader.entries().map(([node, item]) => [node, item.number()])),
    branches: Object.fromEntries(reader.entries().map(([node, item]) => [node, item.text()])),
    decisions: Object.fromEntries(reader.entries().map(([rule, item]) => [rule, item.number()])),
    resumes: reader.number(),
    limits: readLimits(reader.nested()),
    spent: readSpent(reader.nested()),
    stepFromMs: reader.number(),
    seenAtMs: reader.number(),
    failure: reader.errorOrNull(),
    inboxReplay: reader.hasMore ? readInboxReplay(reader.nested()) : null,
  };
}

/** Nothing where nothing is held back. */
function inboxReplayItems(replay: InboxReplay | null): unknown[] {
  if (replay === null) return [];
  const groups = [replay.rest, ...replay.groups].map(({ steps, orders }) => [steps, ...orders]);
  return [[replay.isExact, ...groups]];
}

function readInboxReplay(reader: BodyReader): InboxReplay {
  const isExact = reader.flag();
  const rest = readReplayedItems(reader.nested());
  const groups: ReplayedItems[] = [];
  while (reader.hasMore) groups.push(readReplayedItems(reader.nested()));
  return { groups, rest, isExact };
}

function readReplayedItems(reader: BodyReader): ReplayedItems {
  const steps = reader.count();
  const orders: number[] = [];
  while (reader.hasMore) orders.push(reader.count());
  return { steps, orders };
}

/** 0 where nothing runs again. */
function replayItems(replay: Replay | null): unknown[] {
  return replay === null ? [0] : [replay.to, replay.after, ...replay.done];
}

function readLedgerMark(reader: BodyReader): Control['ledger'] {
  const [count, digest, from, to] = [reader.count(), reader.bytes(), reader.count(), reader.count()];
  if (to === 0) return { count, digest, from, replay: null };
  const after = reader.hasMore ? reader.count() : from;
  const done: StepId[] = [];
  while (reader.hasMore) done.push(reader.text() as StepId);
  return { count, digest, from, replay: { after, to, done } };
}

function readLimits(reader: BodyReader): Control['limits'] {
  return { runMs: reader.numberOrNull(), tokens: reader.numberOrNull(), cost: reader.numberOrNull() };
}

function readSpent(reader: BodyReader): Control['spent'] {
  return { ms: reader.number(), tokens: reader.number(), cost: reader.number() };
}

function fieldItem(image: FieldImage): unknown {
  if (!isLogImage(image)) return storedItem(image);
  return [image.spans.map(({ span, from, to }) => [span, from, to])];
}

/** A log is a list with one list in it; a reference is a list of five; an inline value is bytes. */
function readField(item: BodyReader): FieldImage {
  if (!item.nextIsListOfOne()) return item.stored();
  const spans = item
    .nested()
    .list()
    .map((element): LogSpan => {
      const span = element.nested();
      return { span: span.text(), from: span.count(), to: span.count() };
    });
  return { spans };
}

function mapOf<Value>(record: Readonly<Record<string, Value>>): Map<string, Value> {
  return new Map(Object.entries(record));
}
