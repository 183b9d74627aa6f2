/** Any history of a thread, against a model that keeps every state whole. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { baseKey, isLogImage } from '../../src/codec/checkpoint-codec.ts';
import { buildCheckpoint, type StateChange } from '../../src/codec/commit-builder.ts';
import { LogView } from '../../src/codec/log-codec.ts';
import { sealBase } from '../../src/codec/seal-base.ts';
import { openStateImage, openThreadImage, type StateImage, type ThreadImage } from '../../src/codec/thread-image.ts';
import { emptyControl, emptyPosition } from '../../src/model/empty-control.ts';
import { type CheckpointId, type CommitId, checkpointIdFor } from '../../src/model/ids.ts';
import { givenThread } from '../codec/given.ts';

type Given = Awaited<ReturnType<typeof givenThread>>;
type Model = ReadonlyMap<string, unknown>;

/** One commit: what it changes, what kind it is, and what it goes on from. */
interface Act {
  readonly set: readonly (readonly [field: string, value: unknown])[];
  readonly append: readonly (readonly [log: string, items: readonly unknown[]])[];
  readonly remove: readonly string[];
  readonly isSnapshot: boolean;
  /** Goes back to the checkpoint that is so many before the newest one, in the order in which they were made. */
  readonly back: number;
  /** Then writes a base record for it. */
  readonly isBased: boolean;
}

const item = fc.oneof(
  fc.integer(),
  fc.string(),
  fc.constant(-0),
  fc.dictionary(fc.stringMatching(/^[a-c]$/), fc.integer(), { noNullPrototype: true }),
);
const large = fc.integer({ min: 1, max: 3 }).map((seed) => `${seed}`.repeat(5_000));
const act: fc.Arbitrary<Act> = fc.record({
  set: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.oneof(item, item, large)), { maxLength: 2 }),
  append: fc.array(fc.tuple(fc.constantFrom('log', 'notes/ä'), fc.array(item, { maxLength: 3 })), { maxLength: 2 }),
  remove: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.constantFrom(['a'], ['b']) }),
  isSnapshot: fc.boolean(),
  back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) }),
  isBased: fc.boolean(),
});

class History {
  readonly #given: Given;
  readonly made: { readonly id: CheckpointId; readonly model: Model }[] = [];
  #image: ThreadImage;
  #span = 'span0';
  #groups = 0;

  constructor(given: Given, image: ThreadImage) {
    this.#given = given;
    this.#image = image;
  }

  async apply({ set, append, remove, isSnapshot, back, isBased }: Act): Promise<void> {
    const { codec, random, store } = this.#given;
    const from = back === 0 ? undefined : this.made.at(-1 - back);
    const onto = from && (await openStateImage(codec, from.id));
    if (onto !== undefined) this.#span = `span${this.made.length}`;
    const logs = new Map(append);
    const change: StateChange = { set: new Map(set), append: logs, remove };
    const built = await buildCheckpoint(codec, this.#image, {
      id: checkpointIdFor(this.#image.row.sequence + 1, random),
      kind: isSnapshot ? 'snapshot' : 'delta',
      cause: 'step',
      change,
      position: emptyPosition,
      control: emptyControl(this.#image.row, this.#image.control.ledgerDigest),
      agent: 'test',
      agentVersion: 1,
      stateVersion: 1,
      atMs: 0,
      span: this.#span,
      events: [],
      durability: 'strict',
      ...(onto && { onto }),
    });
    expect(await store.commit([built.group])).toEqual([{ status: 'applied' }]);
    this.#image = built.image;
    const before = (from ?? this.made.at(-1))?.model ?? new Map<string, unknown>();
    this.made.push({ id: built.group.row?.head ?? raise(), model: after(before, set, [...logs], remove) });
    if (isBased) await this.#base(built.image.state ?? raise());
  }

  /** A base record for the head: it takes the place of all that came before it. */
  async #base({ checkpoint, fields }: StateImage): Promise<void> {
    const { codec, hash, row, store } = this.#given;
    if (checkpoint.kind === 'snapshot') return;
    this.#groups += 1;
    const record = await sealBase(codec, checkpoint, fields);
    expect(record.key).toBe(baseKey(checkpoint.id));
    const group = {
      id: `base-${this.#groups}` as CommitId,
      thread: hash,
      incarnation: row.incarnation,
      conditions: [],
    };
    await store.commit([{ ...group, durability: 'strict', records: [record] }]);
  }
}

function after(before: Model, set: Act['set'], append: Act['append'], remove: readonly string[]): Model {
  const model = new Map(before);
  for (const [field, value] of set) model.set(field, value);
  for (const [log, items] of append) model.set(log, [...((model.get(log) as readonly unknown[]) ?? []), ...items]);
  for (const field of remove) model.delete(field);
  return model;
}

async function stateAt({ codec }: Given, image: StateImage | null): Promise<Model> {
  const state = new Map<string, unknown>();
  for (const [name, field] of image?.fields ?? []) {
    state.set(
      name,
      isLogImage(field) ? await new LogView(codec, name, field).slice(0) : await codec.decodeValue(field),
    );
  }
  return state;
}

function raise(): never {
  throw new Error('A commit has a head.');
}

test('[A5d, A2b, B12c] every checkpoint of any history opens to what it was: deltas, snapshots, lines that were left, base records', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 10 }), async (acts) => {
      const given = await givenThread(71);
      const history = new History(given, await openThreadImage(given.codec, given.row));
      for (const each of acts) await history.apply(each);

      const row = (await given.store.readThread(given.hash)) ?? raise();
      expect(await stateAt(given, (await openThreadImage(given.codec, row)).state)).toEqual(history.made.at(-1)?.model);
      for (const { id, model } of history.made) {
        expect(await stateAt(given, await openStateImage(given.codec, id))).toEqual(model);
      }
    }),
    { seed: 20261130, numRuns: 60 },
  );
});
