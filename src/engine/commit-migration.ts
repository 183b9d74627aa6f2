import { randomId } from '../base/random.ts';
import { changeFrom, migrate } from './migrate-state.ts';
import { planFor } from './plans.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import type { ThreadWriter } from './thread-writer.ts';

/**
 * Commits the state in the agent's version, as a checkpoint of its own: the ones before it stay as they were written.
 *
 * @throws what `migrate` does: nothing was changed.
 */
export async function commitMigration(
  { random, clock, time }: RunPorts,
  options: EngineOptions,
  writer: ThreadWriter,
): Promise<void> {
  const { state } = writer.image;
  if (state === null) return;
  const migrated = await migrate(writer.codec, options.agent, state);
  const change = changeFrom(options.agent, migrated, state);
  const nowMs = clock.nowMs();
  const details = {
    from: state.checkpoint.stateVersion,
    to: options.agent.stateVersion,
    run: writer.image.row.epoch.local,
    ledger: writer.image.row.ledger,
  };
  await writer.checkpoint((image) => {
    const events = [{ type: 'migrated', atMs: nowMs, details } as const];
    const { wakeUpAtMs } = image.row;
    const next = { cause: 'migrated', control: {}, change, events, wakeUpAtMs, heavy: true } as const;
    const plan = planFor(image, next, {
      options,
      random,
      nowMs,
      believedMs: time.nowMs(),
      inboxSeen: image.row.inboxTaken,
      resumes: 0,
    });
    return (change.restart?.size ?? 0) === 0 ? plan : { ...plan, span: randomId(random, 6) };
  });
}
