import { errorFamily } from '../base/errors.ts';

export interface CodecErrorDetails {
  /** A value that could not come back the same. `path` leads from the value given to the offending one. */
  value_not_storable: { path: string; found: string; hint: string };
  /** A record that is not what was sealed there: flipped, swapped, replayed or cut short. */
  record_damaged: { table: string; key: string; reason: string };
  /** A record that a snapshot, delta or ledger entry refers to is not there. */
  record_missing: { table: string; key: string; needed: string };
  /** A record in a format that this version does not read. */
  format_unknown: { table: string; key: string; format: number; known: number };
  key_missing: { database: string; key: string };
  key_wrong: { database: string; key: string };
}

export const codecErrors = errorFamily<CodecErrorDetails>({
  value_not_storable: (d) => `Cannot store ${d.found} at ${d.path}: ${d.hint}. Nothing was committed.`,
  record_damaged: (d) => `Record ${d.table}/${d.key} is damaged (${d.reason}). Nothing was changed or deleted.`,
  record_missing: (d) => `Record ${d.table}/${d.key} is missing; ${d.needed} needs it. Nothing was changed.`,
  format_unknown: (d) =>
    `Record ${d.table}/${d.key} has format ${d.format}; this version reads up to ${d.known}. Reload. Nothing was changed.`,
  key_missing: (d) =>
    `Database ${d.database} holds sealed threads, but its key "${d.key}" is not there: it stays locked. Nothing was deleted; restore the key or the browser profile.`,
  key_wrong: (d) =>
    `The key "${d.key}" does not open database ${d.database}: it is another one's, or damaged. Nothing was deleted; restore the right key.`,
});
