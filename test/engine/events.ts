import { unpackBody } from '../../src/codec/packer.ts';
import type { EventType, ThreadEvent } from '../../src/model/event.ts';
import type { ThreadId } from '../../src/model/ids.ts';
import type { Scene } from './support.ts';

/** The thread's event log as it is stored, oldest first. */
export async function eventsOf(scene: Scene): Promise<readonly ThreadEvent[]> {
  const { keyRing } = await scene.world.ports();
  const [row] = scene.world.data.threads.values();
  if (row === undefined) return [];
  const codec = await keyRing.openThread(await keyRing.threadHash('default', 'thread' as ThreadId), row.incarnation);
  const lists = await Promise.all(
    (await scene.stored('events')).map(async (record) => {
      const { plaintext } = await codec.openRecord('events', record);
      const [events] = unpackBody(plaintext) as [[EventType, number, Map<string, string | number | null>][]];
      return events.map(([type, atMs, details]): ThreadEvent => ({ type, atMs, details: Object.fromEntries(details) }));
    }),
  );
  return lists.flat();
}
