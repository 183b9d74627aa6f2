import { type Random, randomId } from '../base/random.ts';
import type { CommitId, Incarnation, ThreadHash, ThreadId } from '../model/ids.ts';
import type { ParentThread } from '../model/parent-thread.ts';
import type { ThreadRow } from '../model/records.ts';
import { type RowControl, sealRowControl } from './control-codec.ts';
import type { KeyRing, NewThreadKey } from './key-ring.ts';
import { recordFormat } from './thread-codec.ts';

export interface NewThread {
  readonly row: ThreadRow;
  readonly commit: CommitId;
  readonly wrap: NewThreadKey['wrap'];
  /** Holds while the key ring is the one that the wrap was made with. */
  readonly condition: NewThreadKey['condition'];
}

/** A thread with a fresh data key and no checkpoint yet: what a store's `createThread` takes. */
export async function newThread(
  keyRing: KeyRing,
  random: Random,
  thread: {
    hash: ThreadHash;
    id: ThreadId;
    namespace: string;
    owner: string;
    agent: string;
    nowMs: number;
    parent?: ParentThread;
  },
): Promise<NewThread> {
  const { hash, id, namespace, owner, agent, nowMs, parent = null } = thread;
  const incarnation = randomId(random) as Incarnation;
  const { codec, wrap, condition } = await keyRing.createThread(hash, incarnation, {
    id,
    namespace,
    owner,
    agent,
    createdAtMs: nowMs,
    parent,
  });
  const bound = { namespace, owner, agent, head: null, ledger: 0, sequence: -1 };
  const control: RowControl = {
    threadId: id,
    base: null,
    headTag: new Uint8Array(0),
    ledgerDigest: new Uint8Array(16),
    travel: null,
  };
  const row: ThreadRow = {
    ...bound,
    thread: hash,
    status: 'idle',
    inbox: 0,
    inboxTaken: 0,
    epoch: { home: 0, local: 0 },
    incarnation,
    resumes: 0,
    wakeUpAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    format: recordFormat,
    control: await sealRowControl(codec, control, bound),
  };
  return { row, commit: randomId(random) as CommitId, wrap, condition };
}
