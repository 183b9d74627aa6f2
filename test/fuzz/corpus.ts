/** A database with two threads of the same shape, in which every kind of record stands at least once. */

import { errorToData } from '../../src/base/errors.ts';
import { buildCheckpoint, buildIntent, type CheckpointPlan, noChange } from '../../src/codec/commit-builder.ts';
import { sealInboxItem } from '../../src/codec/inbox-codec.ts';
import { KeyRing } from '../../src/codec/key-ring.ts';
import { sealDoubt, sealOutcome } from '../../src/codec/ledger-codec.ts';
import { newThread } from '../../src/codec/new-thread.ts';
import { pinKey, sealPin } from '../../src/codec/pin-codec.ts';
import { sealBase } from '../../src/codec/seal-base.ts';
import { BlobBatch, type StoredValue, type ThreadCodec } from '../../src/codec/thread-codec.ts';
import { openThreadImage, type ThreadImage } from '../../src/codec/thread-image.ts';
import { sealAnswer, sealWait } from '../../src/codec/wait-codec.ts';
import type { CommitGroup, RecordWrite } from '../../src/model/commit.ts';
import { emptyControl } from '../../src/model/empty-control.ts';
import {
  type CheckpointId,
  type CommitId,
  checkpointIdFor,
  type EffectKey,
  type StepId,
  type ThreadHash,
  type ThreadId,
  type WaitId,
} from '../../src/model/ids.ts';
import type { ThreadRow } from '../../src/model/records.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { plainCryptography } from '../../src/testing/plain-cryptography.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { fieldsOf, hiddenFields, itemsFrom } from './corpus-values.ts';
import { OverlayStore } from './overlay.ts';

export interface Corpus {
  readonly store: OverlayStore;
  readonly keyRing: KeyRing;
  readonly threads: readonly [Exhibit, Exhibit];
  /** Opens the ring anew, as a start does. */
  reopen(): Promise<KeyRing>;
}

/** One thread and what is known of it. */
export interface Exhibit {
  readonly hash: ThreadHash;
  readonly codec: ThreadCodec;
  readonly row: ThreadRow;
  /** Rows as they were before, oldest first. */
  readonly olderRows: readonly ThreadRow[];
  readonly checkpoints: readonly CheckpointId[];
  readonly waits: readonly WaitId[];
  /** Packed values, as records hold them. */
  readonly values: readonly Uint8Array[];
}

export async function makeCorpus(): Promise<Corpus> {
  const random = seededRandom(20261130);
  const store = new OverlayStore({ name: 'fuzz' });
  const [keys, cryptography] = [new MemoryKeyStore<Uint8Array>(), plainCryptography(random)];
  const reopen = () => KeyRing.open(store, keys, cryptography, random);
  const keyRing = await reopen();
  const builder = (name: string) => new Builder(store, keyRing, name, random);
  return { store, keyRing, threads: [await builder('first').build(), await builder('second').build()], reopen };
}

class Builder {
  readonly #store: OverlayStore;
  readonly #keyRing: KeyRing;
  readonly #name: string;
  readonly #random: ReturnType<typeof seededRandom>;
  #groups = 0;

  constructor(store: OverlayStore, keyRing: KeyRing, name: string, random: ReturnType<typeof seededRandom>) {
    this.#store = store;
    this.#keyRing = keyRing;
    this.#name = name;
    this.#random = random;
  }

  async build(): Promise<Exhibit> {
    const id = this.#name as ThreadId;
    const hash = await this.#keyRing.threadHash('default', id);
    const identity = { hash, id, namespace: 'default', owner: 'local', agent: 'fuzzed', nowMs: 5 };
    const made = await newThread(this.#keyRing, this.#random, identity);
    await this.#store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
    const codec = await this.#keyRing.openThread(hash, made.row.incarnation);
    const rows = [made.row];
    let image = await openThreadImage(codec, made.row);
    const step = async (plan: Partial<CheckpointPlan>) => {
      const built = await buildCheckpoint(codec, image, this.#plan(image, plan));
      await this.#commit(built.group);
      image = built.image;
      rows.push(image.row);
      return built.image.state?.checkpoint ?? raise();
    };
    const first = await step({
      kind: 'snapshot',
      cause: 'input',
      change: { ...noChange, set: fieldsOf(this.#name), append: itemsFrom(this.#name, 0) },
    });
    image = await this.#ledger(codec, image);
    await step({ change: { ...noChange, set: new Map([['count', 2]]), append: itemsFrom(this.#name, 1) } });
    const third = await step({ change: { ...noChange, set: new Map([['count', 3]]) } });
    const atThird = image.state?.fields ?? new Map();
    await step({ change: { set: hiddenFields(), append: itemsFrom(this.#name, 2), remove: ['gone'] } });
    const waits = ['WWWWWWWWWWWWWWWWWWWWW1', 'WWWWWWWWWWWWWWWWWWWWW2'] as WaitId[];
    await this.#write(image, [
      await sealBase(codec, third, atThird),
      await sealPin(
        codec,
        pinKey(first.id, hash),
        {
          thread: 'fork',
          incarnation: made.row.incarnation,
          atMs: 9,
          asked: ['DDDDDDDDDDDDDDDDDDDDDD', 'EEEEEEEEEEEEEEEEEEEEEE'],
          after: null,
        },
        'create',
      ),
      ...(await this.#waits(codec, waits)),
    ]);
    await this.#inbox(codec, image);
    return {
      hash,
      codec,
      row: await this.#rowNow(hash),
      olderRows: rows,
      checkpoints: await this.#checkpointIds(hash),
      waits,
      values: [...(image.state?.fields ?? new Map<string, StoredValue>()).values()].filter(
        (field) => field instanceof Uint8Array,
      ),
    };
  }

  async #rowNow(hash: ThreadHash): Promise<ThreadRow> {
    return (await this.#store.readThread(hash)) ?? raise();
  }

  async #checkpointIds(hash: ThreadHash): Promise<readonly CheckpointId[]> {
    const records = await this.#store.range('checkpoints', hash, {});
    return records.map(({ key }) => key as CheckpointId).filter((key) => !key.includes('.'));
  }

  #plan(image: ThreadImage, plan: Partial<CheckpointPlan>): CheckpointPlan {
    const sequence = image.row.sequence + 1;
    const step = 'SSSSSSSSSSSSSSSSSSSSSS' as StepId;
    return {
      id: checkpointIdFor(sequence, this.#random),
      kind: 'delta',
      cause: 'step',
      change: noChange,
      position: {
        node: 'work',
        step,
        next: [{ node: 'work', step, path: '' }],
        visits: { work: sequence + 1, other: 1 },
      },
      control: this.#control(image),
      agent: 'fuzzed',
      agentVersion: 3,
      stateVersion: 2,
      atMs: 1_000 + sequence,
      span: `span${sequence}`,
      events: [{ type: 'step', atMs: 1_000, details: { node: this.#name, stepMs: sequence, next: null } }],
      durability: 'strict',
      ...plan,
    };
  }

  #control(image: ThreadImage): CheckpointPlan['control'] {
    return {
      ...emptyControl(image.row, image.control.ledgerDigest, 50),
      status: 'running',
      consumed: [3, 5],
      waits: ['WWWWWWWWWWWWWWWWWWWWW1' as WaitId],
      grants: ['send'],
      retries: { work: 1 },
      branches: { work: 'other' },
      decisions: { 'rule/work': 2 },
      limits: { runMs: 1_000, tokens: null, cost: 0.5 },
      failure: errorToData(new TypeError('it failed', { cause: new Error('why') })),
      past: {
        abandoned: [{ after: 0, to: 1 }],
        undecided: [{ after: 0, to: 1 }],
        choices: [{ entry: 1, choice: 'reuse' }],
        origin: { thread: 'origin', checkpoint: '0000000001-aaaaaaaaaaaa' as CheckpointId },
      },
    };
  }

  async #ledger(codec: ThreadCodec, before: ThreadImage): Promise<ThreadImage> {
    let image = before;
    for (const number of [1, 2]) {
      const blobs = new BlobBatch();
      const intent = {
        number,
        key: `key${number}` as EffectKey,
        step: 'SSSSSSSSSSSSSSSSSSSSSS' as StepId,
        attempt: 1,
        kind: 'tool',
        name: 'send',
        effectClass: 'once',
        askedDigest: 'digest',
        args: await codec.encodeValue({ to: this.#name, zero: -0 }, 'args', blobs),
        notAfterMs: 99,
        atMs: 50,
        epoch: 0,
        inputs: [['now', 4]],
      } as const;
      const built = await buildIntent(codec, image, intent, { id: this.#group(), durability: 'strict', blobs });
      await this.#commit(built.group);
      image = built.image;
    }
    const value = await codec.encodeValue({ sent: true }, 'result', new BlobBatch());
    const reason = errorToData(new Error('lost'));
    await this.#write(image, [
      await sealOutcome(codec, 1, {
        status: 'succeeded',
        value,
        error: null,
        by: 'call',
        atMs: 60,
        final: true,
        source: 1,
      }),
      await sealOutcome(codec, 2, { status: 'failed', value: null, error: reason, by: 'call', atMs: 61, final: false }),
      await sealDoubt(codec, 2, { reason, atMs: 55 }),
    ]);
    return image;
  }

  async #waits(codec: ThreadCodec, ids: readonly WaitId[]): Promise<readonly RecordWrite[]> {
    const blobs = new BlobBatch();
    const args = await codec.encodeValue({ amount: 5 }, 'args', blobs);
    const [step, effectKey] = ['SSSSSSSSSSSSSSSSSSSSSS' as StepId, 'key1' as EffectKey];
    const records = await Promise.all(
      ids.flatMap((id, index) => {
        const wait = {
          id,
          kind: 'approval',
          step,
          tool: 'send',
          effectKey,
          args,
          reason: 'r',
          digest: 'd',
          openedAtMs: 1,
          expiresAtMs: index === 0 ? null : 7,
        } as const;
        const answer =
          index === 0
            ? ({ decision: 'allow', args: { amount: 4 }, forThread: true } as const)
            : ({ decision: 'deny', reason: 'no' } as const);
        return [sealWait(codec, wait), sealAnswer(codec, wait, answer, 3, blobs)];
      }),
    );
    return records;
  }

  async #inbox(codec: ThreadCodec, image: ThreadImage): Promise<void> {
    const items = [
      { type: 'input', update: { count: 5 }, policy: 'queue', atMs: 1 },
      { type: 'event', name: 'paid', value: [1, -0], atMs: 2 },
      { type: 'extend', limits: { runMs: 5 }, atMs: 3 },
      { type: 'cancel', atMs: 4 },
    ] as const;
    for (const [index, item] of items.entries()) {
      const inbox = await sealInboxItem(codec, `item-${index}`, item, new BlobBatch());
      await this.#write(image, [], { inbox });
    }
  }

  #group(): CommitId {
    this.#groups += 1;
    return `${this.#name}-${this.#groups}` as CommitId;
  }

  #write({ row }: ThreadImage, records: readonly RecordWrite[], more: Partial<CommitGroup> = {}): Promise<void> {
    const { thread, incarnation } = row;
    return this.#commit({
      id: this.#group(),
      thread,
      incarnation,
      durability: 'strict',
      conditions: [],
      records,
      ...more,
    });
  }

  async #commit(group: CommitGroup): Promise<void> {
    const [result] = await this.#store.commit([group]);
    if (result?.status !== 'applied') throw new Error(`A record of the corpus was not written: ${result?.status}`);
  }
}

function raise(): never {
  throw new Error('It was made a moment ago.');
}
