import type { Operation } from './life.ts';

/** What a commit holds, for a reader. */
export function contentsOf({ groups = [] }: Operation): string {
  const told = groups.map(({ id, records, row, inbox }) => {
    const written = records.map(({ table, key }) => `${table}/${key.slice(0, 14)}`);
    const status = row?.status === undefined ? [] : [row.status];
    return [id.slice(0, 6), ...written, ...(inbox === undefined ? [] : [`inbox/${inbox.dedupId}`]), ...status].join(
      ' ',
    );
  });
  return told.length === 0 ? '' : ` of ${told.join(', and of ')}`;
}
