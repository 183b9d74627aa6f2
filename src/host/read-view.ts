import { type ErrorData, errorToData } from '../base/errors.ts';
import type { EngineThread } from '../engine/engine-thread.ts';
import { summaryOf } from '../engine/summary.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import type { Wait } from '../model/wait.ts';
import type { ThreadView } from '../protocol/host-api.ts';
import { hasInput } from './row-work.ts';

/** Statuses in which new input waits. */
const standing: readonly string[] = ['waiting', 'timed_out', 'out_of_budget'];
/** Steps that a view shows at once; older ones are asked for by `checkpoints`. */
const viewSteps = 200;

/** The thread at a glance. One that cannot be read is shown as blocked, with the reason. */
export async function readView(thread: EngineThread, blocked: ErrorData | null): Promise<ThreadView> {
  const row = await thread.row();
  const [waits, infos, fault] = await readable(thread);
  const [head] = infos;
  const isAnswered = row?.status === 'waiting' && waits.length === 0 && fault === null;
  const isAsked = row !== undefined && !standing.includes(row.status) && hasInput(row);
  return {
    id: thread.id,
    status: row === undefined ? 'idle' : isAnswered || isAsked ? 'running' : row.status,
    failure: row?.status === 'failed' && !isAsked ? (head?.control.failure ?? null) : null,
    blocked: fault ?? blocked,
    waits,
    steps: infos.map(summaryOf).reverse(),
    resumes: head?.control.resumes ?? 0,
    usage: head?.control.usage ?? { inputTokens: 0, outputTokens: 0 },
    updatedAtMs: row?.updatedAtMs ?? 0,
  };
}

async function readable(
  thread: EngineThread,
): Promise<readonly [readonly Wait[], readonly CheckpointInfo[], ErrorData | null]> {
  try {
    const [waits, infos] = await Promise.all([thread.waits(), thread.checkpoints({ limit: viewSteps })]);
    return [waits, infos, null];
  } catch (error) {
    return [[], [], errorToData(error)];
  }
}
