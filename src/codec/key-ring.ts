/**
 * The keys of one database: a root key that only the key store holds, and under it, as sealed records, the index key
 * (for thread hashes) and one data secret for each thread. Never makes a new root key while sealed data exists (I10):
 * a missing one is "locked", not "new". Wraps are records of their own, which no commit writes; a thread is made on condition
 * of the ring that its key was wrapped with. No root key is destroyed, since none is replaced yet (PROTOCOL 7).
 */
import { base64url, utf8 } from '../base/bytes.ts';
import { type Random, randomId } from '../base/random.ts';
import type { Condition, GroupResult, RecordWrite } from '../model/commit.ts';
import type { CommitId, Incarnation, ThreadHash, ThreadId, WaitId } from '../model/ids.ts';
import type { ParentThread } from '../model/parent-thread.ts';
import type { RecordSource, StoredRecord } from '../model/records.ts';
import { BodyReader } from './body.ts';
import type { Cipher, Cryptography } from './cipher.ts';
import { keyIdBytes, type Place } from './envelope.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { DataSealer, Sealer } from './sealer.ts';
import { checkFormat, recordFormat, ThreadCodec } from './thread-codec.ts';

/** The name under which the records of the ring itself are kept. */
export const ringOwner = '#ring' as ThreadHash;
/** The name of the device key in the key store. */
export const deviceKeyName = 'device';
const secretBytes = 32;
/** Of the keys of threads' wraps; an incarnation follows. */
const wrapPrefix = 'data:';
const canary = 'holdfast canary';

/** What a ring needs of a store. */
export interface WrapStore extends RecordSource {
  readonly name: string;
  isEmpty(): Promise<boolean>;
  createRecords(
    owner: ThreadHash,
    commit: CommitId,
    records: readonly RecordWrite[],
  ): Promise<Extract<GroupResult, { status: 'applied' | 'exists' }>>;
}

export interface RootKeys<RootKey> {
  get(name: string): Promise<RootKey | undefined>;
  create(name: string, key: RootKey): Promise<RootKey>;
}

interface RingParts<RootKey> {
  readonly store: WrapStore;
  readonly cryptography: Cryptography<RootKey>;
  readonly random: Random;
  readonly root: Sealer;
  readonly index: DataSealer;
  readonly generation: CommitId;
}

export class KeyRing<RootKey = unknown> {
  readonly #parts: RingParts<RootKey>;

  private constructor(parts: RingParts<RootKey>) {
    this.#parts = parts;
  }

  /**
   * Opens the ring of this database, or makes the first one if the database is empty.
   *
   * @throws `key_missing`: sealed data is there, its key is not. `key_wrong`: the key opens nothing here.
   */
  static async open<RootKey>(
    store: WrapStore,
    keys: RootKeys<RootKey>,
    cryptography: Cryptography<RootKey>,
    random: Random,
  ): Promise<KeyRing<RootKey>> {
    const read = async () => {
      const [wraps, rootKey] = await Promise.all([store.range('wraps', ringOwner, {}), keys.get(deviceKeyName)]);
      const named = (name: string) => wraps.find(({ key }) => key === name);
      return [named('ring'), named('index'), rootKey] as const;
    };
    let [ring, index, rootKey] = await read();
    if (ring === undefined) {
      await createRing(store, keys, cryptography, random);
      [ring, index, rootKey] = await read();
    } else if (index === undefined || rootKey === undefined) {
      [ring, index, rootKey] = await read(); // another tab may have made them between these reads
    }
    if (ring === undefined || rootKey === undefined) throw keyMissing(store);
    const root = rootOf(store, ring, cryptography.rootCipher(rootKey), random);
    const opening = openIndex(store, index, root);
    opening.catch(() => undefined); // a key that does not open the ring comes first
    await openRing(store, ring, root);
    const indexSealer = new DataSealer(root.keyId, await cryptography.dataCipher(await opening), random);
    return new KeyRing({ store, cryptography, random, root, index: indexSealer, generation: ring.commit });
  }

  /** How the store knows this thread. */
  async threadHash(namespace: string, thread: ThreadId): Promise<ThreadHash> {
    return (await this.#parts.index.hash('thread', namespace, thread)) as ThreadHash;
  }

  /** A fresh data secret for a new thread: its codec, the wrap to store with it, and the condition to store it under. */
  async createThread(thread: ThreadHash, incarnation: Incarnation, identity: ThreadIdentity): Promise<NewThreadKey> {
    const { store, random, root, cryptography, generation } = this.#parts;
    const secret = random.bytes(secretBytes);
    const keyId = random.bytes(keyIdBytes);
    const key = wrapPrefix + incarnation;
    const plain = { keyId: base64url(keyId) };
    const { id, namespace, owner, agent, createdAtMs, parent } = identity;
    const line = parent && [parent.thread, parent.incarnation, parent.wait, parent.ancestors];
    const wrapped = packBody([secret, id, namespace, owner, agent, createdAtMs, line]);
    const body = await root.seal(wrapPlace(store.name, thread, incarnation, key, plain), wrapped);
    const sealer = new DataSealer(keyId, await cryptography.dataCipher(secret), random);
    return {
      codec: this.#codec(thread, incarnation, sealer, identity),
      wrap: { table: 'wraps', key, format: recordFormat, plain, body, mode: 'create' },
      condition: { kind: 'present', table: 'wraps', thread: ringOwner, key: 'ring', commit: generation },
    };
  }

  /** The wraps of a thread, for whoever opens it at the same time as its row is read. */
  wrapsOf(thread: ThreadHash): Promise<readonly StoredRecord[]> {
    return this.#parts.store.range('wraps', thread, { from: wrapPrefix, to: `${wrapPrefix}~` });
  }

  /**
   * The codec of an existing thread. `wraps`: those that were read before; one that is not among them is looked up.
   *
   * @throws `key_missing`: its wrap is not there. `record_damaged`: its wrap does not open.
   */
  async openThread(
    thread: ThreadHash,
    incarnation: Incarnation,
    wraps: readonly StoredRecord[] = [],
  ): Promise<ThreadCodec> {
    const { random, cryptography } = this.#parts;
    const { reader, keyId } = await this.#openWrap(thread, incarnation, wraps);
    const cipher = await cryptography.dataCipher(reader.bytes());
    return this.#codec(thread, incarnation, new DataSealer(keyId, cipher, random), readIdentity(reader));
  }

  /** Who a thread is, as it was made: what its row says, sealed. @throws `key_missing`, `record_damaged` */
  async identityOf(thread: ThreadHash, incarnation: Incarnation): Promise<ThreadIdentity> {
    const { reader } = await this.#openWrap(thread, incarnation);
    reader.bytes(); // the secret
    return readIdentity(reader);
  }

  async #openWrap(thread: ThreadHash, incarnation: Incarnation, wraps: readonly StoredRecord[] = []) {
    const { store, root } = this.#parts;
    if (typeof incarnation !== 'string') {
      throw codecErrors.make('record_damaged', { table: 'threads', key: thread, reason: 'its incarnation is no text' });
    }
    const key = wrapPrefix + incarnation;
    const wrap = wraps.find((each) => each.key === key) ?? (await store.get('wraps', thread, key));
    if (wrap === undefined) throw codecErrors.make('key_missing', { database: store.name, key });
    checkFormat({ table: 'wraps', key }, wrap.format);
    const place = wrapPlace(store.name, thread, incarnation, key, wrap.plain, wrap.format);
    const { plaintext } = await root.open(place, wrap.body);
    return {
      reader: BodyReader.of(plaintext, { table: 'wraps', key }),
      keyId: fromBase64url(String(wrap.plain.keyId)),
    };
  }

  #codec(thread: ThreadHash, incarnation: Incarnation, sealer: DataSealer, identity: ThreadIdentity): ThreadCodec {
    const { store } = this.#parts;
    const { parent, owner, id } = identity;
    return new ThreadCodec({ id, database: store.name, thread, incarnation, sealer, source: store, parent, owner });
  }
}

/** What of a thread's row no later record says again: kept with its wrap, so that a lost row can be made anew. */
export interface ThreadIdentity {
  readonly id: ThreadId;
  readonly namespace: string;
  readonly owner: string;
  readonly agent: string;
  readonly createdAtMs: number;
  /** The thread that waits for this one's end; `null` for one that nobody started. */
  readonly parent: ParentThread | null;
}

export interface NewThreadKey {
  readonly codec: ThreadCodec;
  readonly wrap: RecordWrite;
  readonly condition: Extract<Condition, { kind: 'present' }>;
}

function readIdentity(reader: BodyReader): ThreadIdentity {
  return {
    id: reader.text() as ThreadId,
    namespace: reader.text(),
    owner: reader.text(),
    agent: reader.text(),
    createdAtMs: reader.number(),
    parent: readParent(reader),
  };
}

function readParent(reader: BodyReader): ParentThread | null {
  const line = reader.nestedOrNull();
  if (line === null) return null;
  return {
    thread: line.text() as ThreadHash,
    incarnation: line.text() as Incarnation,
    wait: line.text() as WaitId,
    ancestors: line.list().map((item) => item.text()),
  };
}

async function createRing<RootKey>(
  store: WrapStore,
  keys: RootKeys<RootKey>,
  cryptography: Cryptography<RootKey>,
  random: Random,
): Promise<void> {
  if (!(await store.isEmpty())) {
    const isMadeMeanwhile = (await store.get('wraps', ringOwner, 'ring')) !== undefined; // by another tab that has just started
    if (isMadeMeanwhile) return;
    throw keyMissing(store);
  }
  // Two tabs may get here at once: the key store and `createRecords` each let one win, and both go on with the winner's.
  const rootKey = await keys.create(deviceKeyName, await cryptography.createRootKey());
  const keyId = random.bytes(keyIdBytes);
  const root = new Sealer(keyId, cryptography.rootCipher(rootKey), random);
  const plain = { root: base64url(keyId), kind: deviceKeyName };
  const record = async (key: string, plaintext: Uint8Array): Promise<RecordWrite> => ({
    table: 'wraps',
    key,
    format: recordFormat,
    plain,
    mode: 'create',
    body: await root.seal(ringPlace(store.name, key, plain), plaintext),
  });
  const records = await Promise.all([record('ring', utf8(canary)), record('index', random.bytes(secretBytes))]);
  await store.createRecords(ringOwner, randomId(random) as CommitId, records);
}

/** @throws `key_wrong` if the root's key does not open what is in the ring. */
async function openRing(store: WrapStore, ring: StoredRecord, root: Sealer): Promise<void> {
  try {
    checkFormat({ table: 'wraps', key: 'ring' }, ring.format);
    await root.open(ringPlace(store.name, 'ring', ring.plain, ring.format), ring.body);
  } catch (cause) {
    throw keyWrong(store, cause);
  }
}

/** @throws `key_wrong` where the ring names no key. */
function rootOf(store: WrapStore, ring: StoredRecord, cipher: Cipher, random: Random): Sealer {
  try {
    return new Sealer(fromBase64url(String(ring.plain.root)), cipher, random);
  } catch (cause) {
    throw keyWrong(store, cause);
  }
}

function keyWrong(store: WrapStore, cause: unknown) {
  return codecErrors.make('key_wrong', { database: store.name, key: deviceKeyName }, cause);
}

/** The secret under which threads are known. @throws `record_missing`, `record_damaged` */
async function openIndex(store: WrapStore, index: StoredRecord | undefined, root: Sealer): Promise<Uint8Array> {
  if (index === undefined) {
    throw codecErrors.make('record_missing', { table: 'wraps', key: 'index', needed: 'a thread' });
  }
  checkFormat({ table: 'wraps', key: 'index' }, index.format);
  return (await root.open(ringPlace(store.name, 'index', index.plain, index.format), index.body)).plaintext;
}

function keyMissing(store: WrapStore) {
  return codecErrors.make('key_missing', { database: store.name, key: deviceKeyName });
}

function ringPlace(database: string, key: string, plain: Place['plain'], format = recordFormat): Place {
  return { database, table: 'wraps', thread: ringOwner, incarnation: '', key, format, plain };
}

function wrapPlace(
  database: string,
  thread: ThreadHash,
  incarnation: Incarnation,
  key: string,
  plain: Place['plain'],
  format = recordFormat,
): Place {
  return { database, table: 'wraps', thread, incarnation, key, format, plain };
}

function fromBase64url(text: string): Uint8Array {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
