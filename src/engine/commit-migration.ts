import { randomId } from '../base/random.ts';
import type { StateChange } from '../codec/commit-builder.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { ThreadId } from '../model/ids.ts';
import type { AnyAgent } from '../program/agent.ts';
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
 * @throws what `migration` does: nothing was changed.
 */
export async function commitMigration(
  { random, clock, time }: RunPorts,
  options: EngineOptions,
  writer: ThreadWriter,
): Promise<void> {
  const { state } = writer.image;
  if (state === null) return;
  const change = await migration(writer.codec, writer.image.control.threadId, options.agent, state);
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
      isForked: true, // for all that is known here
    });
    return (change.restart?.size ?? 0) === 0 ? plan : { ...plan, span: randomId(random, 6) };
  });
}

/**
 * What makes the state one of the agent's version.
 *
 * @throws what `migrate` does, and `migration_failed` for lines under way whose updates do not fit.
 */
export async function migration(
  codec: ThreadCodec,
  thread: ThreadId,
  agent: AnyAgent,
  state: StateImage,
): Promise<StateChange> {
  const migrated = await migrate(codec, agent, state);
  await refuseOtherUpdates(codec, thread, agent, migrated, state);
  return changeFrom(agent, migrated, state);
}

/** Lines that have not been joined keep what they did as updates of the state as it was: each must fit the new one, too. */
async function refuseOtherUpdates(
  codec: ThreadCodec,
  thread: ThreadId,
  agent: AnyAgent,
  { after }: Migrated,
  state: StateImage,
): Promise<void> {
  const draft = new LineDraft(await readLines(codec, state.fields));
  const updates = await new LineUpdates(codec, () => ({ state })).all(draft);
  try {
    for (const update of updates) applyUpdate(agent.state, after, update);
  } catch (cause) {
    const { stateVersion: from, agentVersion } = state.checkpoint;
    const found = cause instanceof Error ? cause.message : String(cause);
    const reason = `lines of the run that is under way have changes that do not fit (${found}). Let the version before end the run, or take the thread back to before its fork`;
    throw rareEngineErrors.make(
      'migration_failed',
      { thread, from, to: agent.stateVersion, agentVersion, reason },
      cause,
    );
  }
}
