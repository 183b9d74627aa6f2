import { afterEach, describe } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { testBatches } from './store-batches.ts';
import { testBytes } from './store-bytes.ts';
import { testCommits } from './store-commits.ts';
import { testConditions } from './store-conditions.ts';
import { testDurability } from './store-durability.ts';
import type { StoreSubject } from './store-givens.ts';
import { testInbox } from './store-inbox.ts';
import { testLeases } from './store-leases.ts';
import { testOtherThreads } from './store-others.ts';
import { testReading } from './store-reading.ts';
import { testThreads } from './store-threads.ts';

/** Every sentence of the port `Store`, as tests. Every adapter runs it, in Node or in a browser. */
export function testStore(name: string, subject: StoreSubject): void {
  describe(`store ${name}`, () => {
    const opened: Store[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });
    const giveStore = async (): Promise<Store> => {
      const store = await subject.open();
      opened.push(store);
      return store;
    };

    testCommits(giveStore);
    testConditions(giveStore);
    testBatches(giveStore);
    testOtherThreads(giveStore);
    testInbox(giveStore);
    testThreads(giveStore);
    testLeases(giveStore);
    testReading(giveStore);
    testBytes(giveStore);
    testDurability(giveStore, subject);
  });
}
