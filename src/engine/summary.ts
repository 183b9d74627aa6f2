import type { CheckpointInfo } from '../model/checkpoint.ts';
import type { StepSummary } from '../model/frame.ts';
import { sequenceOf } from '../model/ids.ts';

/** What a checkpoint shows in a list of steps. */
export function summaryOf(
  checkpoint: Omit<CheckpointInfo, 'sequence' | 'agent' | 'agentVersion' | 'stateVersion'>,
): StepSummary {
  const { id, kind, cause, position, atMs } = checkpoint;
  const next = position.next[0]?.node ?? null;
  return {
    checkpoint: id,
    sequence: sequenceOf(id) ?? 0,
    kind,
    cause,
    node: cause === 'step' ? position.node : cause === 'input' ? null : (next ?? position.node),
    next,
    step: cause === 'step' ? position.step : (position.next[0]?.step ?? position.step),
    atMs,
    stepMs: 0,
    commitMs: 0,
  };
}
