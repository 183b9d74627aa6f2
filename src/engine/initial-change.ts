import type { StateChange } from '../codec/commit-builder.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { AnyAgent } from '../program/agent.ts';
import { initialValues } from '../program/state.ts';

/** What takes the state back to where it was before the first input: initial values, logs that begin anew, nothing else. */
export function initialChange(agent: AnyAgent, image: StateImage | null): StateChange {
  const logs = Object.entries(agent.state).flatMap(([name, { kind }]) => (kind === 'log' ? [name] : []));
  const initial = initialValues(agent.state);
  const rest = [...(image?.fields.keys() ?? [])].filter((name) => !initial.has(name) && !logs.includes(name));
  return { set: initial, append: new Map(logs.map((name) => [name, []])), remove: rest, restart: new Set(logs) };
}
