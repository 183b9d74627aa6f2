/**
 * A new thread that goes on from a checkpoint of another one (PROTOCOL 4). Invariants:
 *
 * - The pin under the source comes first and names the fork's incarnation: a fork that a crash cut off is gone on with, under
 *   the same key, by whoever asks for it again.
 * - Nothing of the fork is visible before its row: key, segments and blobs are written under its hash before, in pieces; row and
 *   first checkpoint then come in one transaction, on condition of pin, source, key and ring.
 * - The fork has keys of its own: everything it holds is sealed anew, and nothing in it needs the source.
 */
import { randomId } from '../base/random.ts';
import { isStale, openPin, type Pin, pinKey, sealPin } from '../codec/pin-codec.ts';
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { Condition, RecordWrite } from '../model/commit.ts';
import {
  type CheckpointId,
  type CommitId,
  type Incarnation,
  type ThreadHash,
  type ThreadId,
  threadIdProblem,
} from '../model/ids.ts';
import { checkChoices, checkOptions, checkReason } from '../program/option-checks.ts';
import { type AppliedUpdate, applyUpdate, checkInput } from '../program/state.ts';
import { recordChildEnds } from './child-ends.ts';
import { migration } from './commit-migration.ts';
import { engineErrors } from './errors.ts';
import { give } from './give.ts';
import { encodeWithDigest } from './step-run.ts';
import { ThreadState } from './thread-state.ts';
import { carriedResults, copyFields } from './time-travel-copy.ts';
import { travelErrors } from './time-travel-errors.ts';
import { firstRecords } from './time-travel-first.ts';
import { forkChoices } from './time-travel-fork-choices.ts';
import {
  checkpointOf,
  type GoBackOptions,
  refuseNewer,
  type TravelParts,
  unknownCheckpoint,
} from './time-travel-parts.ts';
import { linesOn, standingAt } from './time-travel-standing.ts';

export interface ForkOptions extends GoBackOptions {
  /** The id of the new thread. */
  readonly id: string;
  /** A change of the state that the fork begins with. */
  readonly edit?: object;
}

type Present = Extract<Condition, { kind: 'present' }>;

/**
 * Makes the thread `id` from a checkpoint; resolves once it is durable. Asked for again, the same fork is left as it is. Each
 * effect that the source has had since needs a choice: `reuse` or `redo`.
 *
 * @throws `thread_id_invalid`, `thread_exists`, `fork_differs`, `checkpoint_unknown`, `choice_needed`, `choice_unknown`, `choice_invalid`,
 * `field_unknown`, `state_invalid`, `value_not_storable`, `agent_too_old`: nothing was made. `fork_interrupted`: nothing is visible; ask again.
 */
export async function fork(parts: TravelParts, checkpoint: CheckpointId, options: ForkOptions): Promise<void> {
  checkOptions('fork(checkpoint, options)', options, ['id', 'edit', 'effects', 'reason']);
  checkReason('fork(checkpoint, options)', options.reason);
  checkChoices('fork(checkpoint, options)', options.effects);
  const problem = threadIdProblem(options.id);
  if (problem !== undefined) throw engineErrors.make('thread_id_invalid', { problem });
  const id = options.id as ThreadId;
  const { keyRing, store } = parts.ports;
  const target = await checkpointOf(parts, checkpoint);
  const hash = await keyRing.threadHash(parts.options.namespace ?? 'default', id);
  if (await isThere(parts, checkpoint, hash, options)) return;
  refuseNewer(parts, target);

  const standing = await standingAt(parts.codec, target);
  const chosen = await forkChoices(parts, target, standing, options.effects ?? {}).catch((error) =>
    unlessGone(parts, checkpoint, error),
  );
  const { from, edited } = await editedFrom(parts, target, options.edit);
  const pin = await pinned(parts, checkpoint, hash, options);
  const { owner = 'local', namespace = 'default', agent } = parts.options;
  const identity = { id, namespace, owner, agent: agent.name, createdAtMs: pin.atMs, parent: null };
  const key = await keyRing.createThread(hash, pin.incarnation, identity);
  const write = (records: readonly RecordWrite[]) => writeNew(parts, hash, records);
  await write([key.wrap]); // one that is there already is the key of the pieces that are there already
  const codec = await keyRing.openThread(hash, pin.incarnation);
  await recordChildEnds(parts, chosen);
  const carried = await carriedResults(parts.codec, codec, chosen, write);
  const fresh = { lineage: pin.incarnation, input: 0, from: carried.count, sinceMs: 0 };
  const set = new Map([...edited.set, ...(await linesOn(codec, standing, fresh))]);
  const fields = await copyFields(parts.codec, codec, from.fields, { ...edited, set }, write);
  const made = await firstRecords(parts, codec, { target: from, pin, id, fields, carried, standing });
  const result = await store.createThread(made.row, randomId(parts.ports.random) as CommitId, made.records, [
    key.condition,
    present(hash, 'wraps', `data:${pin.incarnation}`),
    present(parts.codec.thread, 'checkpoints', checkpoint),
    present(parts.codec.thread, 'checkpoints', pinKey(checkpoint, hash)),
  ]);
  if (result.status === 'missing') {
    throw travelErrors.make('fork_interrupted', { thread: id, reason: `${result.table}/${result.key} is gone` });
  }
  if (result.row.incarnation !== pin.incarnation) throw travelErrors.make('thread_exists', { thread: id });
}

/**
 * Whether the thread is this fork already.
 *
 * @throws `thread_exists` if it is another thread, `fork_differs` if it was asked for otherwise.
 */
async function isThere(
  { ports, codec }: TravelParts,
  checkpoint: CheckpointId,
  hash: ThreadHash,
  options: ForkOptions,
): Promise<boolean> {
  const row = await ports.store.readThread(hash);
  if (row === undefined) return false;
  const pin = await pinOf(codec, checkpoint, hash);
  if (pin?.incarnation !== row.incarnation) throw travelErrors.make('thread_exists', { thread: options.id });
  await refuseOther(codec, pin, options, true);
  return true;
}

/**
 * What there is of the fork was made for what was asked then. Of one that is whole, only what is given now can differ.
 *
 * @throws `fork_differs`
 */
async function refuseOther(codec: ThreadCodec, { asked }: Pin, options: ForkOptions, isWhole: boolean): Promise<void> {
  if (asked === null) return;
  const now = await digestsOf(codec, options);
  const isGiven = [options.edit !== undefined, Object.keys(options.effects ?? {}).length > 0];
  const differs = now.some((digest, index) => digest !== asked[index] && (isGiven[index] || !isWhole));
  if (differs) throw travelErrors.make('fork_differs', { thread: options.id });
}

/** Of the edit, and of the results that it takes along: of a call that is made again there is nothing in it. */
async function digestsOf(codec: ThreadCodec, { edit, effects }: ForkOptions): Promise<readonly [string, string]> {
  const reused = Object.entries(effects ?? {}).flatMap(([key, choice]) => (choice === 'reuse' ? [key] : []));
  const digestOf = async (value: unknown) => (await encodeWithDigest(codec, value, 'edit')).digest;
  return [await digestOf(edit ?? null), await digestOf(reused.sort())];
}

async function pinOf(codec: ThreadCodec, checkpoint: CheckpointId, hash: ThreadHash): Promise<Pin | undefined> {
  const record = await codec.source.get('checkpoints', codec.thread, pinKey(checkpoint, hash));
  return record && openPin(codec, record);
}

/** What was read of a checkpoint that a compaction took meanwhile says nothing. */
async function unlessGone(parts: TravelParts, checkpoint: CheckpointId, error: unknown): Promise<never> {
  const there = await parts.codec.source.get('checkpoints', parts.codec.thread, checkpoint);
  throw there === undefined ? unknownCheckpoint(parts, checkpoint) : error;
}

/** The pin of this fork: the one that is there, unless it is of a thread that was deleted since, or a new one. */
async function pinned(
  parts: TravelParts,
  checkpoint: CheckpointId,
  hash: ThreadHash,
  options: ForkOptions,
): Promise<Pin> {
  const { ports, codec } = parts;
  const at = pinKey(checkpoint, hash);
  for (;;) {
    const known = await codec.source.get('checkpoints', codec.thread, at);
    if (known !== undefined && !(await isStale(ports.store, codec, known))) {
      const pin = await openPin(codec, known);
      await refuseOther(codec, pin, options, false);
      return pin;
    }
    const incarnation = randomId(ports.random) as Incarnation;
    const asked = await digestsOf(codec, options);
    const pin: Pin = { thread: options.id, incarnation, atMs: ports.clock.nowMs(), asked };
    const after = (await ports.store.readTombstone(hash))?.incarnation ?? null;
    const result = await give(ports, {
      id: randomId(ports.random) as CommitId,
      thread: codec.thread,
      incarnation: codec.incarnation,
      durability: 'strict',
      conditions: [
        present(codec.thread, 'checkpoints', checkpoint),
        ...(known === undefined ? [] : [{ ...present(codec.thread, 'checkpoints', at), commit: known.commit }]),
      ],
      records: [await sealPin(codec, at, { ...pin, after }, known === undefined ? 'create' : 'replace')],
    });
    if (result.status === 'applied') return pin;
    // Somebody forks the same at the same time: both make one thread.
    const isOvertaken = result.status === 'exists' || (result.status === 'missing' && result.key === at);
    if (!isOvertaken) throw unknownCheckpoint(parts, checkpoint);
  }
}

const nothingEdited: AppliedUpdate = { set: new Map(), append: new Map() };

/** What the edit changes; refused here if it does not fit or cannot be kept. */
interface Edited {
  readonly from: StateImage;
  readonly edited: AppliedUpdate;
}

/** An edit is one of the state as the agent has it now: an older one is migrated first. */
async function editedFrom(parts: TravelParts, target: StateImage, edit: object | undefined): Promise<Edited> {
  const { agent } = parts.options;
  const edited = await editedFields(parts, target, edit);
  if (edit === undefined || target.checkpoint.stateVersion === agent.stateVersion) return { from: target, edited };
  const { set, append, remove, restart } = await migration(parts.codec, parts.id, agent, target);
  const gone = new Set([...remove, ...(restart ?? [])]);
  const fields = new Map([...target.fields].filter(([name]) => !gone.has(name)));
  const logs = [...new Set([...append.keys(), ...edited.append.keys()])];
  const items = logs.map((name) => [name, [...(append.get(name) ?? []), ...(edited.append.get(name) ?? [])]] as const);
  const { stateVersion, version: agentVersion } = agent;
  return {
    from: { ...target, fields, checkpoint: { ...target.checkpoint, stateVersion, agentVersion } },
    edited: { set: new Map([...set, ...edited.set]), append: new Map(items) },
  };
}

async function editedFields(
  { codec, options: { agent } }: TravelParts,
  target: StateImage,
  edit: object | undefined,
): Promise<AppliedUpdate> {
  if (edit === undefined) return nothingEdited;
  checkInput(agent.state, edit);
  const applied = applyUpdate(agent.state, (await ThreadState.read(codec, agent, target)).values, edit);
  for (const [name, value] of [...applied.set, ...applied.append]) {
    await codec.encodeValue(value, name, new BlobBatch());
  }
  return applied;
}

/** Records of a thread that has no row yet: those that are there are from an earlier try, with the same key. */
async function writeNew({ ports }: TravelParts, hash: ThreadHash, records: readonly RecordWrite[]): Promise<void> {
  if (records.length === 0) return;
  const create = (some: readonly RecordWrite[]) =>
    ports.store.createRecords(hash, randomId(ports.random) as CommitId, some);
  if ((await create(records)).status === 'applied') return;
  for (const record of records) await create([record]);
}

function present(thread: ThreadHash, table: Present['table'], key: string): Present {
  return { kind: 'present', thread, table, key };
}
