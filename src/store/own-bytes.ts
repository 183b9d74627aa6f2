/**
 * Copies of what a caller hands over, taken before the first wait: whatever it does to its buffers later changes nothing
 * stored. A copy also has a buffer of its own length; a view is stored with its whole buffer, neighbours included.
 */
import type { CommitGroup, RecordWrite } from '../model/commit.ts';
import type { ThreadRow } from '../model/records.ts';

export function ownGroup(group: CommitGroup): CommitGroup {
  const { inbox, row, also } = group;
  return {
    ...group,
    records: ownRecords(group.records),
    ...(also === undefined ? {} : { also: { ...also, records: ownRecords(also.records) } }),
    ...(inbox === undefined ? {} : { inbox: { ...inbox, plain: { ...inbox.plain }, body: inbox.body.slice() } }),
    ...(row === undefined
      ? {}
      : { row: row.control === undefined ? { ...row } : { ...row, control: row.control.slice() } }),
  };
}

export function ownRecords(records: readonly RecordWrite[]): readonly RecordWrite[] {
  return records.map((record) => ({ ...record, plain: { ...record.plain }, body: record.body.slice() }));
}

export function ownRow(row: ThreadRow): ThreadRow {
  return { ...row, control: row.control.slice() };
}
