import type { ThreadHash } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { codecErrors } from './errors.ts';

interface Rows {
  readThread(thread: ThreadHash): Promise<ThreadRow | undefined>;
}

/**
 * Reads what a row leads to. Whoever reads holds no lease: the thread may move on meanwhile, and a compaction may take away what
 * the row led to. Then it is read again from the row as it is now.
 *
 * @throws `record_missing` where the thread has not moved: the record is lost.
 */
export async function readAgain<Result>(
  store: Rows,
  row: ThreadRow,
  read: (row: ThreadRow) => Promise<Result>,
): Promise<Result> {
  for (let known = row; ; ) {
    try {
      return await read(known);
    } catch (error) {
      if (!codecErrors.is(error, 'record_missing')) throw error;
      const now = await store.readThread(row.thread);
      const isOther = now?.incarnation !== row.incarnation;
      if (isOther || (now.head === known.head && now.epoch.local === known.epoch.local)) throw error;
      known = now;
    }
  }
}

/**
 * The same for what shows no hole where records were collected, as a list does. A compaction takes the lease: what was read while
 * somebody took it may be a part, and is read again.
 */
export async function readWhole<Result>(
  store: Rows,
  row: ThreadRow,
  read: (row: ThreadRow) => Promise<Result>,
): Promise<Result> {
  for (let known = row; ; ) {
    const result = await readAgain(store, known, read);
    const now = await store.readThread(row.thread);
    if (now?.incarnation !== row.incarnation || now.epoch.local === known.epoch.local) return result;
    known = now;
  }
}
