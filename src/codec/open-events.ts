/** Reads what `events-codec.ts` seals; apart, since only those ask for it who look back. */
import type { EventType, ThreadEvent } from '../model/event.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import { BodyReader } from './body.ts';
import { type Checkpoint, readBody } from './checkpoint-codec.ts';
import type { ThreadCodec } from './thread-codec.ts';

export interface OpenedEvents {
  readonly events: readonly ThreadEvent[];
  /** What the step of a snapshot changed: as a delta on its parent; as a snapshot where it has none. */
  readonly change: Checkpoint | undefined;
}

/** @throws `record_damaged`, `format_unknown` */
export async function openEvents(codec: ThreadCodec, record: StoredRecord): Promise<OpenedEvents> {
  const { plaintext, parentTag: tag } = await codec.openRecord('events', record);
  const reader = BodyReader.of(plaintext, { table: 'events', key: record.key });
  const events = reader.list().map((item): ThreadEvent => {
    const event = item.nested();
    const [type, atMs] = [event.text() as EventType, event.number()];
    return { type, atMs, details: Object.fromEntries(event.entries().map(([name, value]) => [name, value.scalar()])) };
  });
  const [item] = reader.list();
  if (item === undefined || tag === null) return { events, change: undefined };
  const change = item.nested();
  const parent = change.textOrNull() as CheckpointId | null;
  const parentTag = change.bytesOrNull();
  const id = record.key as CheckpointId;
  const kind = parent === null ? 'snapshot' : 'delta';
  return { events, change: { ...readBody(change.nested()), id, parent, kind, tag, parentTag } };
}
