import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { AnyAgent } from '../program/agent.ts';
import { rareEngineErrors } from './rare-errors.ts';

/** A log is stored where the agent declares a value, or the reverse: read so, its content would be lost in silence. */
export function fieldChanged({ name }: ThreadCodec, { state, stateVersion }: AnyAgent, field: string) {
  const [stored, declared] = state[field]?.kind === 'log' ? ['value', 'log'] : ['log', 'value'];
  return rareEngineErrors.make('field_changed', { thread: name, field, stored, declared, stateVersion });
}
