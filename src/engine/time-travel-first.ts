/** Row and first checkpoint of a fork. */
import { type FieldImage, sealCheckpoint } from '../codec/checkpoint-codec.ts';
import { type RowControl, sealRowControl } from '../codec/control-codec.ts';
import { tagOf } from '../codec/envelope.ts';
import { sealEvents } from '../codec/events-codec.ts';
import type { Pin } from '../codec/pin-codec.ts';
import { recordFormat, type ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import { type Control, nothingSpent } from '../model/checkpoint.ts';
import type { RecordWrite } from '../model/commit.ts';
import { type CheckpointId, checkpointIdFor, type ThreadId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import type { Carried, Copied } from './time-travel-copy.ts';
import { positionOn } from './time-travel-new-lineage.ts';
import type { TravelParts } from './time-travel-parts.ts';
import type { Standing } from './time-travel-standing.ts';

export interface First {
  readonly target: StateImage;
  readonly pin: Pin;
  readonly id: ThreadId;
  readonly fields: Copied;
  readonly carried: Carried;
  readonly standing: Standing;
}

/** The row of the fork and its first checkpoint, a snapshot. */
export async function firstRecords(
  { ports, options, id: source }: TravelParts,
  codec: ThreadCodec,
  { target: { checkpoint }, pin, id, fields, carried, standing }: First,
): Promise<{ readonly row: ThreadRow; readonly records: readonly RecordWrite[] }> {
  const { agent, namespace = 'default', owner = 'local' } = options;
  const { clock, random, store } = ports;
  const nowMs = clock.nowMs();
  const head = checkpointIdFor(0, random);
  const tombstone = await store.readTombstone(codec.thread);
  const epoch = { home: 0, local: tombstone === undefined ? 0 : tombstone.epoch.local + 1 };
  const origin = { thread: source, checkpoint: checkpoint.id };
  const control: Control = {
    ...forkControl(checkpoint, carried, pin.incarnation, origin, head),
    ...(standing.steps.size > 0 && { status: 'running', failure: null }),
    seenAtMs: ports.time.nowMs(),
    epoch,
  };
  const body = {
    id: head,
    parent: null,
    kind: 'snapshot' as const,
    parentTag: null,
    cause: 'forked' as const,
    stateVersion: checkpoint.stateVersion,
    agent: agent.name,
    agentVersion: agent.version,
    atMs: nowMs,
    position: await positionOn(codec, checkpoint, pin.incarnation, 0),
    control,
    base: head,
    fields: fields.images satisfies ReadonlyMap<string, FieldImage>,
    removed: [],
  };
  const sealed = await sealCheckpoint(codec, body);
  const event = { type: 'forked', atMs: nowMs, details: { thread: source, checkpoint: checkpoint.id } } as const;
  const events = await Promise.all(sealEvents(codec, head, [event]));
  const bound = { namespace, owner, agent: agent.name, head, ledger: carried.count, sequence: 0 };
  const rowControl: RowControl = {
    threadId: id,
    base: head,
    headTag: tagOf(sealed.body),
    ledgerDigest: carried.digest,
    travel: null,
  };
  const row: ThreadRow = {
    ...bound,
    thread: codec.thread,
    status: control.status,
    inbox: 0,
    inboxTaken: 0,
    epoch,
    incarnation: pin.incarnation,
    resumes: 0,
    wakeUpAtMs: null,
    createdAtMs: pin.atMs,
    updatedAtMs: nowMs,
    format: recordFormat,
    control: await sealRowControl(codec, rowControl, bound),
  };
  return { row, records: [sealed, ...events, ...carried.records, ...fields.appended] };
}

/** A fork is a thread of its own: nobody granted it anything, and it has spent, failed and taken up nothing yet. */
function forkControl(
  { control }: StateImage['checkpoint'],
  { count, digest }: Carried,
  lineage: string,
  origin: Control['past']['origin'],
  head: CheckpointId,
): Control {
  return {
    ...control,
    run: { ...control.run, input: 0, began: head }, // where taking its run back would lead: to what was forked
    ledger: { count, digest, from: count, replay: null },
    inboxTaken: 0,
    consumed: [],
    inboxReplay: null,
    spent: nothingSpent,
    stepFromMs: 0,
    lineage,
    waits: [],
    grants: [],
    usage: { inputTokens: 0, outputTokens: 0, cost: 0 },
    retries: {},
    resumes: 0,
    past: {
      abandoned: count === 0 ? [] : [{ after: 0, to: count }],
      undecided: [],
      choices: Array.from({ length: count }, (_, index) => ({ entry: index + 1, choice: 'reuse' })),
      origin,
    },
  };
}
