import { openEvents } from '../../src/codec/open-events.ts';
import type { ThreadEvent } from '../../src/model/event.ts';
import type { ThreadId } from '../../src/model/ids.ts';
import type { Scene } from './support.ts';

/** The thread's event log as it is stored, oldest first. */
export async function eventsOf(scene: Scene): Promise<readonly ThreadEvent[]> {
  const { keyRing } = await scene.world.ports();
  const [row] = scene.world.data.threads.values();
  if (row === undefined) return [];
  const codec = await keyRing.openThread(await keyRing.threadHash('default', 'thread' as ThreadId), row.incarnation);
  const records = (await scene.stored('events')).filter(({ key }) => !key.startsWith('q:'));
  const lists = await Promise.all(records.map(async (record) => (await openEvents(codec, record)).events));
  return lists.flat();
}
