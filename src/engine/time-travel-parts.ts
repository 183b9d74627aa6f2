/** What all of time travel is given, and the checkpoint that it begins with. */
import { textOf } from '../base/errors.ts';
import { codecErrors } from '../codec/errors.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, type StateImage } from '../codec/thread-image.ts';
import type { Frame } from '../model/frame.ts';
import { type CheckpointId, sequenceOf, type ThreadId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { engineErrors } from './errors.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { rareEngineErrors } from './rare-errors.ts';
import type { EffectChoices } from './time-travel-choices.ts';

export interface TravelParts {
  readonly ports: RunPorts;
  readonly options: EngineOptions;
  readonly id: ThreadId;
  readonly codec: ThreadCodec;
  readonly row: ThreadRow;
  readonly emit: (frame: Frame) => void;
  /** Whether the thread is being run here. */
  readonly isLive: boolean;
  /** Stops the run that is under way here, and lets none begin before the work is done. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface GoBackOptions {
  /** What is to become of each effect that is passed over, by its key. */
  readonly effects?: EffectChoices;
  /** For the record: why. */
  readonly reason?: string;
}

/** @throws `checkpoint_unknown` */
export async function checkpointOf(parts: Pick<TravelParts, 'codec' | 'id'>, id: CheckpointId): Promise<StateImage> {
  if (sequenceOf(id) === undefined) throw unknownCheckpoint(parts, id);
  try {
    return await openStateImage(parts.codec, id);
  } catch (error) {
    const isAbsent = codecErrors.is(error, 'record_missing') && error.details.key === id;
    throw isAbsent ? unknownCheckpoint(parts, id) : error;
  }
}

export function unknownCheckpoint({ id: thread }: Pick<TravelParts, 'id'>, checkpoint: unknown) {
  return engineErrors.make('checkpoint_unknown', {
    thread,
    checkpoint: typeof checkpoint === 'object' && checkpoint ? 'an object, not an id' : textOf(checkpoint),
  });
}

/** @throws `agent_too_old` where newer code made the checkpoint: what is made of it would pass for this code's own. */
export function refuseNewer({ id: thread, options: { agent } }: TravelParts, state: StateImage | null): void {
  const agentVersion = state?.checkpoint.agentVersion ?? 0;
  if (agentVersion > agent.version) {
    throw rareEngineErrors.make('agent_too_old', { thread, agentVersion, version: agent.version });
  }
}
