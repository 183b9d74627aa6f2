/** Identities that are the same on every re-run (PROTOCOL 1): keyed hashes of places, never of arguments or time. */
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { EffectKey, StepId, WaitId } from '../model/ids.ts';

export async function stepIdFor(
  codec: ThreadCodec,
  step: { lineage: string; predecessor: StepId | null; node: string; path: string; input: number },
): Promise<StepId> {
  const { lineage, predecessor, node, path, input } = step;
  return (await codec.sealer.hash('step', lineage, predecessor, node, path, input)) as StepId;
}

/** `place` is the effect's scope, and its ordinal or own key within it: attempts, epochs and checkpoints leave it alone. */
export async function effectKeyFor(codec: ThreadCodec, step: StepId, place: string): Promise<EffectKey> {
  return (await codec.sealer.hash('effect', step, place)) as EffectKey;
}

export async function waitIdFor(codec: ThreadCodec, step: StepId, place: string): Promise<WaitId> {
  return (await codec.sealer.hash('wait', step, place)) as WaitId;
}
