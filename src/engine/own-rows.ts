import type { ThreadHash } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import type { Store } from '../store/store.ts';
import type { EngineOptions } from './ports.ts';

/** Rows read from the store in one go. */
const pageRows = 1_000;

/** The rows of the threads of this agent and owner; with `agents`, of all of those. */
export async function ownRows(
  store: Store,
  options: EngineOptions,
  agents?: ReadonlyMap<string, unknown>,
): Promise<ThreadRow[]> {
  const { agent, namespace = 'default', owner = 'local' } = options;
  const mine: ThreadRow[] = [];
  for (let after: ThreadHash | undefined, isMore = true; isMore; ) {
    const page = await store.listThreads({ namespace, owner, limit: pageRows, ...(after && { after }) });
    for (const row of page) if (agents === undefined ? row.agent === agent.name : agents.has(row.agent)) mine.push(row);
    after = page.at(-1)?.thread;
    isMore = page.length === pageRows;
  }
  return mine;
}
