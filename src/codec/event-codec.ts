import type { EventType, ThreadEvent } from '../model/event.ts';
import type { CheckpointId } from '../model/ids.ts';
import { BodyReader } from './body.ts';
import type { ThreadCodec } from './thread-codec.ts';

/** The events that were committed with a checkpoint; none where they were pruned. @throws `record_damaged` */
export async function readEvents(codec: ThreadCodec, id: CheckpointId): Promise<readonly ThreadEvent[]> {
  const record = await codec.source.get('events', codec.thread, id);
  if (record === undefined) return [];
  const { plaintext } = await codec.openRecord('events', record);
  const body = BodyReader.of(plaintext, { table: 'events', key: record.key });
  return body.list().map((item): ThreadEvent => {
    const event = item.nested();
    return {
      type: event.text() as EventType,
      atMs: event.number(),
      details: Object.fromEntries(event.entries().map(([name, detail]) => [name, detail.scalar()])),
    };
  });
}
