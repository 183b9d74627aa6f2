import type { ThreadRow } from '../../model/records.ts';
import type { ThreadQuery } from '../../store/store.ts';
import { answer } from './requests.ts';

const chunkRows = 256;

/** Walks the rows of all owners, a chunk at a time, since there is no index. */
export async function listRows(store: IDBObjectStore, query: ThreadQuery): Promise<readonly ThreadRow[]> {
  const found: ThreadRow[] = [];
  let after: string | undefined = query.after;
  while (found.length < query.limit) {
    const rest = after === undefined ? null : IDBKeyRange.lowerBound(after, true);
    const rows = await answer<ThreadRow[]>(store.getAll(rest, chunkRows));
    found.push(...rows.filter((row) => row.namespace === query.namespace && row.owner === query.owner));
    after = rows.at(-1)?.thread;
    if (rows.length < chunkRows) break;
  }
  return found.slice(0, query.limit);
}
