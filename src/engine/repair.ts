/**
 * Repair (A11, PROTOCOL 4): where the head cannot be opened, the thread goes on from the newest ancestor all of whose records
 * are good. Invariants:
 *
 * - I10: nothing is deleted or written over. Damaged records stay, with a mark; a missing key or a newer format is no damage.
 * - The lineage is kept: steps after the ancestor have the ids they had, find their recorded results, and repeat no call.
 * - It is one commit like any other, under a lease, on condition of the head that was found.
 */
import { randomId } from '../base/random.ts';
import { type FieldImage, isLogImage, logLength } from '../codec/checkpoint-codec.ts';
import { buildCheckpoint, type CheckpointPlan, noChange } from '../codec/commit-builder.ts';
import { emptied, lastChunks, sealMarks } from '../codec/quarantine.ts';
import { type Fault, faultOf } from '../codec/recover-lineage.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { allWaits, readAnswer, readWait } from '../codec/wait-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import type { CommitGroup, Condition } from '../model/commit.ts';
import { emptyControl, emptyPosition } from '../model/empty-control.ts';
import type { Frame } from '../model/frame.ts';
import { checkpointIdFor, sequenceOf } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import type { QuarantinedRecord, RepairInfo } from '../model/repair.ts';
import type { AnyAgent } from '../program/agent.ts';
import { entryOf } from './agent-nodes.ts';
import { give } from './give.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';
import { findGround, type Ground } from './repair-ground.ts';
import { inboxReplayOf } from './repair-inbox.ts';

/**
 * Repairs the thread if its head, or a record that its state needs, is damaged. Takes the lease and gives it back. Whether
 * there is a new head. Never rejects: what stands in the way keeps the thread blocked as it was.
 */
export async function repairThread(
  ports: EnginePorts,
  options: EngineOptions,
  codec: ThreadCodec,
  emit: (frame: Frame) => void,
): Promise<boolean> {
  const row = await ports.store.takeLease(codec.thread, codec.incarnation).catch(() => undefined);
  if (row === undefined) return false;
  try {
    const ground = await findGround(ports, codec, row);
    if (ground === undefined) return false;
    const { info, status, isApplied } = await commitRepair(ports, options, codec, row, ground);
    if (!isApplied) return false;
    emit({ type: 'repaired', repair: info });
    emit({ type: 'status', status: status.status, failure: status.failure });
    return true;
  } catch {
    return false;
  } finally {
    await ports.store.releaseLease(row.thread, row.incarnation, row.epoch).catch(() => undefined);
  }
}

async function commitRepair(
  { store, clock, random }: EnginePorts,
  { agent }: EngineOptions,
  codec: ThreadCodec,
  row: ThreadRow,
  ground: Ground,
): Promise<{ readonly info: RepairInfo; readonly status: Control; readonly isApplied: boolean }> {
  const { state, passedOver, faults, ledger, sequence, threadId, travel } = ground;
  const nowMs = clock.nowMs();
  const id = checkpointIdFor(sequence + 1, random);
  const all = [...faults, ...(await lastChunks(codec, faults))];
  const atMs = Math.max(nowMs, await afterWaits(codec));
  const marks = all.map((fault) => markOf(fault, id, atMs));
  const info: RepairInfo = {
    from: row.head,
    to: state?.checkpoint.id ?? null,
    checkpoint: id,
    passedOver: passedOver.length,
    quarantined: marks,
  };
  const span = randomId(random, 6);
  const before: ThreadImage = {
    row: { ...row, head: info.to, sequence, ledger: ledger.count },
    control: {
      threadId,
      base: state?.checkpoint.base ?? null,
      headTag: state?.checkpoint.tag ?? new Uint8Array(0),
      ledgerDigest: ledger.digest,
      travel,
    },
    // Log items behind this point may be on record under the old name already, and are written again.
    state: state && (passedOver.length === 0 ? state : { ...state, fields: withSpan(state.fields, span) }),
  };
  const control = await controlAfter(codec, agent, row, ground);
  const plan: CheckpointPlan = {
    id,
    kind: 'snapshot',
    cause: 'repaired',
    travel: travel && {
      ...travel,
      isLost: travel.isLost || (sequenceOf(state?.checkpoint.id) ?? -1) < travel.sequence,
    },
    change: noChange,
    position: state?.checkpoint.position ?? emptyPosition,
    control,
    agent: state?.checkpoint.agent ?? agent.name,
    agentVersion: state?.checkpoint.agentVersion ?? agent.version,
    stateVersion: state?.checkpoint.stateVersion ?? agent.stateVersion,
    atMs: nowMs,
    span,
    events: [
      {
        type: 'repaired',
        atMs: nowMs,
        details: {
          from: info.from,
          to: info.to,
          passedOver: passedOver.length,
          records: faults.length,
          run: row.epoch.local,
          ledger: ledger.count,
        },
      },
    ],
    records: [...(await sealMarks(codec, marks)), ...emptied(marks)],
    wakeUpAtMs: await earliestExpiry(codec, control),
    durability: 'strict',
  };
  const { group } = await buildCheckpoint(codec, before, plan);
  const result = await give({ store, clock }, { ...group, conditions: conditionsOn(row, group) });
  return { info, status: control, isApplied: result.status === 'applied' };
}

function markOf(fault: Fault, repairedBy: QuarantinedRecord['repairedBy'], atMs: number): QuarantinedRecord {
  const { table, key, reason } = fault;
  return { table: table as QuarantinedRecord['table'], key, reason, atMs, repairedBy };
}

/** A time behind that of every wait, whatever the clock says now: retention keeps the answers that are older than a repair. */
async function afterWaits(codec: ThreadCodec): Promise<number> {
  const known = await allWaits(codec);
  const waits = await Promise.all(known.map((id) => readWait(codec, id).catch((error) => void faultOf(error))));
  return Math.max(0, ...waits.map((wait) => (wait === undefined ? 0 : wait.openedAtMs + 1)));
}

/** What the thread owes at its new ground. What came after it is on record, and is found by the steps as they run again. */
async function controlAfter(
  codec: ThreadCodec,
  agent: AnyAgent,
  row: ThreadRow,
  { state, passedOver, ledger }: Ground,
): Promise<Control> {
  const { count, digest } = ledger;
  const control = state?.checkpoint.control ?? emptyControl({ ...row, inboxTaken: 0, ledger: 0 }, digest);
  const { from, replay } = control.ledger;
  if (passedOver.length === 0) return { ...control, epoch: row.epoch, ledger: { count, digest, from, replay } };
  const below = {
    control,
    position: state?.checkpoint.position ?? emptyPosition,
    sequence: sequenceOf(state?.checkpoint.id) ?? -1,
    start: entryOf(agent, agent.start),
  };
  return {
    ...control,
    epoch: row.epoch,
    ledger: {
      count,
      digest,
      from,
      replay: { after: replay?.after ?? control.ledger.count, to: count, done: replay?.done ?? [] },
    },
    inboxReplay: await inboxReplayOf(codec, below, [...passedOver].reverse()),
  };
}

function withSpan(fields: ReadonlyMap<string, FieldImage>, span: string): ReadonlyMap<string, FieldImage> {
  const entries = [...fields].map(([name, image]): [string, FieldImage] => {
    if (!isLogImage(image)) return [name, image];
    const end = logLength(image);
    return [name, { spans: [...image.spans, { span, from: end, to: end }] }];
  });
  return new Map(entries);
}

/** The repair is built on an ancestor, but takes the place of the head that is there. */
function conditionsOn(row: ThreadRow, group: CommitGroup): readonly Condition[] {
  return group.conditions.map((condition) => {
    if (condition.kind === 'head') return { kind: 'head', is: row.head };
    return condition.kind === 'ledger' ? { kind: 'ledger', is: row.ledger } : condition;
  });
}

async function earliestExpiry(codec: ThreadCodec, { waits }: Control): Promise<number | null> {
  const open = await Promise.all(
    waits.map(async (id) => ((await readAnswer(codec, id)) === undefined ? await readWait(codec, id) : undefined)),
  );
  const times = open.flatMap((wait) => (wait?.expiresAtMs == null ? [] : [wait.expiresAtMs]));
  return times.length === 0 ? null : Math.min(...times);
}
