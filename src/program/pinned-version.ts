import { rareProgramErrors } from './rare-errors.ts';
import type { Versioned } from './versions.ts';

/**
 * The version of the agent that a thread is to be run by: the newest, or, of an agent that keeps `earlier` ones, the one that
 * the thread was begun with.
 *
 * @throws `version_missing`
 */
export function versionFor<Agent extends Pick<Versioned, 'name' | 'version'>>(
  agent: Agent & { readonly earlier?: readonly Agent[] },
  begun: number | undefined,
): Agent {
  const { earlier } = agent;
  if (earlier === undefined || begun === undefined || begun >= agent.version) return agent;
  const kept = earlier.find(({ version }) => version === begun);
  if (kept !== undefined) return kept;
  const versions = [...earlier.map(({ version }) => version), agent.version];
  throw rareProgramErrors.make('version_missing', { agent: agent.name, version: begun, kept: versions.join(', ') });
}
