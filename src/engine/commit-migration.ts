import { randomId } from '../base/random.ts';
import type { StateImage } from '../codec/thread-image.ts';
import { applyUpdate } from '../program/state.ts';
import { LineDraft, readLines } from './line-draft.ts';
import { LineUpdates } from './line-updates.ts';
import { changeFrom, type Migrated, migrate } from './migrate-state.ts';
import { planFor } from './plans.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { rareEngineErrors } from './rare-errors.ts';
import type { ThreadWriter } from './thread-writer.ts';

/**
 * Commits the state in the agent's version, as a checkpoint of its own: the ones before it stay as they were written.
 *
 * @throws what `migrate` does, and `migration_failed` for lines under way whose updates do not fit: nothing was changed.
 */
export async function commitMigration(
  { random, clock, time }: RunPorts,
  options: EngineOptions,
  writer: ThreadWriter,
): Promise<void> {
  const { state } = writer.image;
  if (state === null) return;
  const migrated = await migrate(writer.codec, options.agent, state);
  await refuseOtherUpdates(writer, options, migrated, state);
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

/** Lines that have not been joined keep what they did as updates of the state as it was: each must fit the new one, too. */
async function refuseOtherUpdates(
  { codec, image }: ThreadWriter,
  { agent }: EngineOptions,
  { after }: Migrated,
  { checkpoint: { stateVersion: from, agentVersion }, fields }: StateImage,
): Promise<void> {
  const updates = await new LineUpdates(codec, () => image).all(new LineDraft(await readLines(codec, fields)));
  try {
    for (const update of updates) applyUpdate(agent.state, after, update);
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    const reason = `lines of the run that is under way have changes that do not fit (${found}). Let the version before end the run, or take the thread back to before its fork`;
    const { threadId: thread } = image.control;
    throw rareEngineErrors.make(
      'migration_failed',
      { thread, from, to: agent.stateVersion, agentVersion, reason },
      cause,
    );
  }
}
