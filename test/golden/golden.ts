/** Golden files: threads of a released format, sealed with fixed keys, and what they must open as. */
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import { deviceKeyName, KeyRing, ringOwner } from '../../src/codec/key-ring.ts';
import { webCryptography } from '../../src/codec/webcrypto-cipher.ts';
import { Engine } from '../../src/engine/engine.ts';
import { jsonOf } from '../../src/engine/json-of.ts';
import type { EnginePorts } from '../../src/engine/ports.ts';
import type { CommitId, ThreadHash } from '../../src/model/ids.ts';
import { type StoredRecord, type Table, type ThreadRow, tables } from '../../src/model/records.ts';
import { MemoryData } from '../../src/stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { answer, only, plainState } from '../engine/support.ts';
import { goldenAgent, goldenModel } from './golden-agent.ts';

const database = 'golden';
/** Of no use to anybody: it is here to be read. */
const rootKey = Uint8Array.from({ length: 32 }, (_, index) => index);

interface GoldenRecord extends Omit<StoredRecord, 'body'> {
  readonly table: Table;
  readonly thread: ThreadHash;
  readonly body: string;
}

export interface Golden {
  readonly rows: readonly (Omit<ThreadRow, 'control'> & { readonly control: string })[];
  readonly records: readonly GoldenRecord[];
  readonly expected: unknown;
}

/** Threads of today's format: one with every kind of record in it, which waits, and one of a checkpointer. */
export async function makeGolden(): Promise<Golden> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // recorded errors would hold file paths
  try {
    return await makeThreads();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function makeThreads(): Promise<Golden> {
  const data = new MemoryData();
  const world = await openWorld(data, 1);
  const { thread, clock } = world;
  await thread.send({ to: 'ann' }, 'the first input');
  await thread.run();
  clock.advance(60_000);
  await answer(thread, only(await thread.waits()), { decision: 'allow', args: { to: 'ann and bob' } });
  await thread.run();
  clock.advance(60_000);
  await thread.send({ to: 'carol' }, 'the second input');
  await thread.run();
  await thread.share('bob', 'read');
  const { checkpointer } = world;
  for (let n = 0; n < 5; n += 1) await checkpointer.save('plain', { n, text: 'x'.repeat(n * 2_000) });
  const [first, second] = await checkpointer.list('plain');
  if (first !== undefined && second !== undefined) await checkpointer.delete('plain', second.id);

  const threads = [...data.threads.keys(), ringOwner];
  const records = threads.flatMap((thread) =>
    tables.flatMap((table) =>
      data
        .records(table, thread)
        .range({})
        .map((record): GoldenRecord => ({ table, thread, ...record, body: base64(record.body) })),
    ),
  );
  const rows = [...data.threads.values()].map((row) => ({ ...row, control: base64(row.control) }));
  return { rows, records, expected: await readGolden({ rows, records }) };
}

/** All that the library reads of the golden threads, as JSON. */
export async function readGolden(golden: Pick<Golden, 'rows' | 'records'>): Promise<unknown> {
  const { thread, checkpointer } = await openGolden(golden);
  const checkpoints = await thread.checkpoints();
  const states = await Promise.all(
    checkpoints.map(async ({ id }) => {
      const state = await plainState({ state: () => thread.state(id) } as never);
      return [id, state] as const;
    }),
  );
  const log: string[] = [];
  for await (const line of thread.exportLog()) log.push(line);
  const plain = await checkpointer.list('plain');
  const saved = await Promise.all(plain.map(({ id }) => checkpointer.loadCheckpoint('plain', id)));
  return JSON.parse(
    JSON.stringify(
      jsonOf({
        checkpoints,
        states,
        log: log.map((line) => JSON.parse(line) as unknown),
        waits: await thread.waits(),
        effects: await thread.effects(),
        shares: await thread.shares(),
        plain,
        saved,
      }),
    ),
  );
}

/** The golden threads in a store of their own. */
export function openGolden({ rows, records }: Pick<Golden, 'rows' | 'records'>) {
  const data = new MemoryData();
  for (const { table, thread, body, ...record } of records) {
    const placed = { ...record, commit: record.commit as CommitId, body: bytesOf(body) };
    data.write({ records: [{ table, thread, mode: 'create', record: placed }] });
  }
  for (const row of rows) data.write({ records: [], row: { ...row, control: bytesOf(row.control) } });
  return openWorld(data, 2);
}

async function openWorld(data: MemoryData, seed: number) {
  const keys = new MemoryKeyStore<CryptoKey>();
  await keys.create(
    deviceKeyName,
    await crypto.subtle.importKey('raw', rootKey, 'AES-GCM', false, ['encrypt', 'decrypt']),
  );
  const [store, random, clock] = [new MemoryStore({ name: database, data }), seededRandom(seed), new ManualClock()];
  const keyRing = await KeyRing.open(store, keys, webCryptography, random);
  const ports: EnginePorts = { store, keyRing, clock, random };
  const engine = new Engine(ports, { agent: goldenAgent, model: goldenModel });
  return { thread: engine.thread('golden'), checkpointer: new Checkpointer(ports), clock };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'base64'));
}
