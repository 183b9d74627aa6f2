/** Compares two threads: what they hold now, and what each did to get there. */
import { type Checkpoint, isLogImage, type LogImage, openCheckpoint } from '../codec/checkpoint-codec.ts';
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import { commonLength } from '../codec/log-prefix.ts';
import { readAgain } from '../codec/read-again.ts';
import { isSharedWith } from '../codec/shares.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, openThreadImage, type StateImage, type ThreadImage } from '../codec/thread-image.ts';
import type { EffectClass, EffectKind, EffectStatus } from '../model/effect.ts';
import type { FieldDiff } from '../model/field-diff.ts';
import { type CheckpointId, type ThreadId, threadIdProblem } from '../model/ids.ts';
import { isAbandoned } from '../model/past-entries.ts';
import type { ThreadStatus } from '../model/records.ts';
import { withChildEnds } from './child-ends.ts';
import { controlOf, positionOf } from './control-of.ts';
import { engineErrors } from './errors.ts';
import { rareEngineErrors } from './rare-errors.ts';
import { effectInfo, settles } from './step-ledger.ts';
import { diffSides, storedSide } from './time-travel-diff.ts';
import { checkpointOf, type TravelParts } from './time-travel-parts.ts';

export interface Comparison {
  /** From this thread's state to the other's. Of a fork's logs the part it was forked with is not read. */
  readonly fields: readonly FieldDiff[];
  readonly before: Deeds;
  readonly after: Deeds;
}

/** What a thread did on the lineage that leads to its head. */
export interface Deeds {
  readonly thread: string;
  readonly head: CheckpointId | null;
  readonly status: ThreadStatus;
  /** Times that each node was run; of a fork, those before it included. */
  readonly visits: Readonly<Record<string, number>>;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly effects: readonly EffectCount[];
}

export interface EffectCount {
  readonly name: string;
  readonly kind: EffectKind;
  readonly effectClass: EffectClass;
  readonly status: EffectStatus;
  /** Calls of this name that ended so; each counts once, with all its attempts. */
  readonly count: number;
  /** How many of them were given a recorded result and not made. */
  readonly reused: number;
}

interface Opened {
  readonly id: ThreadId;
  readonly codec: ThreadCodec;
  readonly image: ThreadImage;
}

/** @throws `thread_id_invalid`, `thread_unknown` or `not_owner` for the other thread, `record_damaged` */
export async function compare(parts: TravelParts, other: string): Promise<Comparison> {
  const problem = threadIdProblem(other);
  if (problem !== undefined) throw engineErrors.make('thread_id_invalid', { problem });
  const a: Opened = { id: parts.id, codec: parts.codec, image: await openThreadImage(parts.codec, parts.row) };
  const b = await open(parts, other as ThreadId);
  if (b === undefined) throw engineErrors.make('thread_unknown', { thread: other });
  const shared = await sharedLogs(parts, a, b);
  const [first, second] = [a, b].map(({ codec, image }) =>
    image.state === null ? new Map() : storedSide(codec, image.state),
  );
  return {
    fields: await diffSides(first ?? new Map(), second ?? new Map(), (field) => shared(field)),
    before: await deedsOf(a),
    after: await deedsOf(b),
  };
}

async function open({ ports, options }: TravelParts, id: ThreadId): Promise<Opened | undefined> {
  const row = await ports.store.readThread(await ports.keyRing.threadHash(options.namespace ?? 'default', id));
  if (row === undefined) return undefined;
  const codec = await ports.keyRing.openThread(row.thread, row.incarnation);
  const { owner } = await ports.keyRing.identityOf(row.thread, row.incarnation);
  const { owner: asker = 'local' } = options;
  if (owner !== asker && !(await isSharedWith(codec, asker, 'read'))) {
    throw rareEngineErrors.make('not_owner', { thread: id, owner: asker, needs: 'read' });
  }
  return { id, codec, image: await readAgain(ports.store, row, (now) => openThreadImage(codec, now)) };
}

async function deedsOf({ id, codec, image }: Opened): Promise<Deeds> {
  const { status, past, usage } = controlOf(image, 0);
  const { entries } = await readLedger(codec, 0, image.row.ledger);
  const own = entries.filter(({ intent: { number, kind } }) => {
    return !isAbandoned(past, number) && kind !== 'inputs' && kind !== 'node';
  });
  const attempts = new Map<string, LedgerEntry[]>();
  for (const entry of await withChildEnds(codec, image.row, own))
    attempts.set(entry.intent.key, [...(attempts.get(entry.intent.key) ?? []), entry]);
  const counts = new Map<string, EffectCount>();
  for (const tries of attempts.values()) {
    const last = tries.findLast(settles) ?? tries.at(-1);
    if (last === undefined) continue;
    const { name, kind, effectClass, status: ended } = effectInfo(last, false);
    const key = JSON.stringify([name, kind, ended]);
    const { count, reused } = counts.get(key) ?? { count: 0, reused: 0 };
    const isReused = last.outcome?.by === 'reuse';
    counts.set(key, { name, kind, effectClass, status: ended, count: count + 1, reused: reused + (isReused ? 1 : 0) });
  }
  const { visits } = positionOf(image);
  return { thread: id, head: image.row.head, status, visits, usage, effects: [...counts.values()] };
}

/**
 * How many items the same log has in common in two threads: those up to the checkpoint that one was forked from, or both, as far as
 * each still has them. 0 for threads that are not related in this way: contents are not compared.
 */
async function sharedLogs(parts: TravelParts, a: Opened, b: Opened): Promise<(field: string) => number> {
  const none = () => 0;
  const [ofA, ofB] = [controlOf(a.image, 0).past.origin, controlOf(b.image, 0).past.origin];
  const isSibling = ofA !== null && ofA.thread === ofB?.thread && ofA.checkpoint === ofB.checkpoint;
  const origin = ofB?.thread === a.id || isSibling ? ofB : ofA?.thread === b.id ? ofA : null;
  if (origin === null) return none;
  const other = () => open(parts, origin.thread as ThreadId).catch(() => undefined); // it may be somebody else's
  const source = origin.thread === a.id ? a : origin.thread === b.id ? b : await other();
  const forkedAt = source && (await checkpointOf(source, origin.checkpoint).catch(() => undefined));
  if (source === undefined || forkedAt === undefined) return none;
  const sides = await Promise.all(
    [a, b].map(async (side) => ({ head: side.image.state, start: side === source ? forkedAt : await firstOf(side) })),
  );
  return (field) => {
    const kept = sides.map(({ head, start }) => commonLength(logOf(head, field), logOf(start, field)));
    return Math.min(commonLength(logOf(forkedAt, field), logOf(forkedAt, field)), ...kept);
  };
}

/** The state that a fork began with; `null` if its first checkpoint is gone. */
async function firstOf({ codec }: Opened): Promise<StateImage | null> {
  const [record] = await codec.source.range('checkpoints', codec.thread, { limit: 1 });
  const first: Checkpoint | undefined = record && (await openCheckpoint(codec, record));
  return first?.cause === 'forked' ? openStateImage(codec, first.id) : null;
}

function logOf(image: StateImage | null, field: string): LogImage {
  const found = image?.fields.get(field);
  return found !== undefined && isLogImage(found) ? found : { spans: [] };
}
