import { newThread } from '../codec/new-thread.ts';
import type { ThreadHash, ThreadId } from '../model/ids.ts';
import { engineErrors } from './errors.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';

/** Creates the thread, unless it is there. @throws `lease_lost`: the key ring was changed in that moment. */
export async function createThread(
  { keyRing, store, random, clock }: EnginePorts,
  { agent, namespace = 'default', owner = 'local' }: EngineOptions,
  id: ThreadId,
  hash: ThreadHash,
): Promise<void> {
  const nowMs = clock.nowMs();
  const made = await newThread(keyRing, random, { hash, id, namespace, owner, agent: agent.name, nowMs });
  const result = await store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
  if (result.status === 'missing') {
    throw engineErrors.make('lease_lost', { thread: id, reason: 'the key ring changed meanwhile; try again' });
  }
}
