/**
 * Ends of children that their parents have not taken up yet: they stand at the waits, and the ledger has none (PROTOCOL 6).
 * Whoever looks at the ledger from outside of a run sees the entries with them.
 */
import { randomId } from '../base/random.ts';
import { type LedgerEntry, ledgerKey, type StoredOutcome, sealOutcome } from '../codec/ledger-codec.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import { type ReadAnswer, readAnswer, readWait } from '../codec/wait-codec.ts';
import type { CommitId, EffectKey, WaitId } from '../model/ids.ts';
import type { EffectChoice } from '../model/past.ts';
import { endStatuses, type ThreadRow } from '../model/records.ts';
import type { Wait } from '../model/wait.ts';
import type { ChildArgs, ChildOutcome } from './children.ts';
import { engineErrors } from './errors.ts';
import { give } from './give.ts';
import type { EnginePorts } from './ports.ts';

interface Place {
  readonly ports: Pick<EnginePorts, 'store' | 'clock' | 'random'>;
  readonly codec: ThreadCodec;
  readonly id: string;
}

interface Ended {
  readonly wait: Wait;
  readonly answer: ReadAnswer;
}

/**
 * The entries with the ends that their children came to; `given_up` for those that nobody waits for any more. Without an outcome
 * are children that still run.
 */
export async function withChildEnds(
  codec: ThreadCodec,
  { status }: Pick<ThreadRow, 'status'>,
  entries: readonly LedgerEntry[],
): Promise<readonly LedgerEntry[]> {
  if (!entries.some(isOpen)) return entries;
  const asked = await childWaits(codec);
  const look = async (entry: LedgerEntry): Promise<LedgerEntry> => {
    const wait = isOpen(entry) ? asked.get(entry.intent.key) : undefined;
    const answer = wait && (await readAnswer(codec, wait.id).catch((error) => void faultOf(error)));
    if (wait !== undefined && answer !== undefined) {
      return { ...entry, outcome: await outcomeOf(codec, { wait, answer }, new BlobBatch()) };
    }
    // Its run ended before it came to ask for the child: nobody will.
    const isLeft = isOpen(entry) && wait === undefined && endStatuses.includes(status);
    return isLeft ? { ...entry, outcome: givenUp(entry.intent.atMs) } : entry;
  };
  return Promise.all(entries.map(look));
}

/**
 * Records the ends that were chosen to be given again, as their parents would have: evidence, whoever holds the lease (PROTOCOL 3).
 *
 * @throws `lease_lost`: the thread was deleted.
 */
export async function recordChildEnds(
  { ports, codec, id: thread }: Place,
  chosen: readonly { readonly choice: EffectChoice; readonly effect: { readonly entry: LedgerEntry | undefined } }[],
): Promise<void> {
  const reused = chosen.flatMap(({ choice, effect: { entry } }) =>
    choice === 'reuse' && entry?.intent.kind === 'child' ? [entry] : [],
  );
  if (reused.length === 0) return;
  const asked = await childWaits(codec);
  for (const { intent, commit } of reused) {
    const wait = asked.get(intent.key);
    const answer = wait && (await readAnswer(codec, wait.id));
    if (wait === undefined || answer?.answer.decision !== 'ended') continue; // its parent took it up, and recorded it
    const blobs = new BlobBatch({ mayReuse: false });
    const outcome = await outcomeOf(codec, { wait, answer }, blobs);
    const result = await give(ports, {
      id: randomId(ports.random) as CommitId,
      thread: codec.thread,
      incarnation: codec.incarnation,
      durability: 'strict',
      conditions: [{ kind: 'present', table: 'ledger', key: ledgerKey(intent.number, 'i'), commit }],
      records: [await sealOutcome(codec, intent.number, outcome), ...blobs.writes()],
    });
    if (result.status === 'applied' || result.status === 'exists') continue; // `exists`: it was recorded meanwhile
    throw engineErrors.make('lease_lost', { thread, reason: `the end of a child could not be kept: ${result.status}` });
  }
}

/** What children have used that have ended since their parent ran: it has not taken that up. */
export async function unseenUses(
  codec: ThreadCodec,
  entries: readonly LedgerEntry[],
): Promise<readonly ChildOutcome['usage'][]> {
  const open = entries.filter(isOpen);
  if (open.length === 0) return [];
  const asked = await childWaits(codec);
  const answers = open.map(async ({ intent }) => {
    const wait = asked.get(intent.key);
    return wait && (await readAnswer(codec, wait.id).catch((error) => void faultOf(error)));
  });
  return (await Promise.all(answers)).flatMap((found) =>
    found?.answer.decision === 'ended' ? [(found.answer.value as ChildOutcome).usage] : [],
  );
}

function isOpen({ intent, outcome }: LedgerEntry): boolean {
  return intent.kind === 'child' && outcome === undefined;
}

/** The waits for children, by the effects that these are. One that does not open says nothing. */
async function childWaits(codec: ThreadCodec): Promise<ReadonlyMap<EffectKey, Wait>> {
  const records = await codec.source.range('waits', codec.thread, { from: 'w:', to: 'w;' });
  const read = ({ key }: { readonly key: string }) =>
    readWait(codec, key.slice(2) as WaitId).catch((error) => void faultOf(error));
  const waits = (await Promise.all(records.map(read))).filter((wait) => wait?.kind === 'child');
  return new Map(waits.flatMap((wait) => (wait === undefined ? [] : [[wait.effectKey, wait] as const])));
}

async function outcomeOf(codec: ThreadCodec, { wait, answer }: Ended, blobs: BlobBatch): Promise<StoredOutcome> {
  const { answer: given, atMs } = answer;
  if (given.decision !== 'ended') return givenUp(atMs);
  const end = { ...(given.value as ChildOutcome), thread: (wait.args as ChildArgs).thread };
  const value = await codec.encodeValue(end, wait.tool, blobs);
  return { status: 'succeeded', value, error: null, by: 'call', atMs, final: true };
}

/** Never recorded: a run that is taken back may make the child anew. */
function givenUp(atMs: number): StoredOutcome {
  return { status: 'given_up', value: null, error: null, by: 'engine', atMs, final: true };
}
