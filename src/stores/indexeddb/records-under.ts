import type { CommitId, ThreadHash } from '../../model/ids.ts';
import type { StoredRecord } from '../../model/records.ts';
import type { DoomedRecord } from '../../store/store.ts';
import { keyAbove } from '../../store/thread-rules.ts';
import { answer, keyRange } from './requests.ts';

/** Keys that lie under those of records to be deleted; with the commit where one of them is asked for as a certain commit wrote it. */
export async function recordsUnder(
  store: IDBObjectStore,
  thread: ThreadHash,
  doomed: readonly DoomedRecord[],
): Promise<readonly { readonly key: string; readonly commit?: CommitId }[]> {
  const keys = doomed.map(({ key }) => key).sort();
  const range = keyRange(thread, { from: keys[0] ?? '', to: `${keys.at(-1)}/` }); // a slash sorts right after a dot
  if (keys.length === 0 || range === undefined) return [];
  const there = ((await answer(store.getAllKeys(range))) as [string, string][]).map(([, key]) => key);
  const stated = new Set(doomed.flatMap(({ key, commit }) => (commit === undefined ? [] : key)));
  const wanted = new Set(keys);
  return Promise.all(
    there
      .filter((key) => stated.has(key) || wanted.has(keyAbove(key) ?? ''))
      .map(async (key) => {
        const record: StoredRecord | undefined = stated.has(key) ? await answer(store.get([thread, key])) : undefined;
        return record === undefined ? { key } : { key, commit: record.commit };
      }),
  );
}
