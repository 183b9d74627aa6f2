import type { RecordRange } from '../../model/records.ts';

/** The request's result. Rejects with its error; why a transaction was aborted is known to the transaction alone. */
export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The keys `[thread, key]` of the range, all keys of the thread by default; `undefined` if there can be none. */
export function keyRange(thread: string, { from = '', to }: RecordRange): IDBKeyRange | undefined {
  if (to !== undefined && to <= from) return undefined;
  // An array sorts after every text, so that [thread, []] is behind all keys of the thread.
  return IDBKeyRange.bound([thread, from], [thread, to ?? []], false, true);
}

/** The values of the range in the order of their keys, or against it. */
export async function readRange<T>(store: IDBObjectStore, thread: string, wanted: RecordRange): Promise<readonly T[]> {
  const { reverse = false, limit } = wanted;
  const range = keyRange(thread, wanted);
  if (range === undefined || limit === 0) return []; // to IndexedDB, a limit of 0 is none
  if (!reverse) return answer<T[]>(store.getAll(range, limit));
  if (limit === 1) {
    const newest = await answer(store.openCursor(range, 'prev'));
    return newest === null ? [] : [newest.value as T];
  }
  const start = limit === undefined ? undefined : await keyFromEnd(store, range, limit);
  const values = await answer<T[]>(
    store.getAll(start === undefined ? range : IDBKeyRange.bound(start, range.upper, false, true)),
  );
  return values.reverse();
}

/** The key at this place counted from the end of the range, 1 being the last; `undefined` if there are fewer. */
async function keyFromEnd(store: IDBObjectStore, range: IDBKeyRange, place: number): Promise<IDBValidKey | undefined> {
  const request = store.openKeyCursor(range, 'prev');
  const last = await answer(request);
  if (last === null) return undefined;
  last.advance(place - 1);
  return (await answer(request))?.key;
}
