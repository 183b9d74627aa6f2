import { errorFamily } from '../base/errors.ts';
import type { RareEngineErrorDetails } from './rare-errors.ts';

export interface EngineErrorDetails {
  thread_id_invalid: { problem: string };
  thread_unknown: { thread: string };
  retention_invalid: { problem: string };
  option_invalid: { option: string; problem: string };
  lease_lost: { thread: string; reason: string };
  checkpoint_unknown: { thread: string; checkpoint: string };
  wait_closed: { wait: string; winner: string };
  code_not_loaded: { reason: string };
}

/** Of the same family, with their texts in `rare-errors.ts`. */
const rare: Readonly<Record<keyof RareEngineErrorDetails, true>> = {
  answer_mismatch: true,
  agent_too_old: true,
  thread_busy: true,
  answer_invalid: true,
  wait_unknown: true,
  dedup_id_invalid: true,
  share_invalid: true,
  thread_of_another_agent: true,
  not_owner: true,
  policy_unknown: true,
  event_name_invalid: true,
  extension_invalid: true,
  limit_invalid: true,
  id_taken: true,
  state_too_new: true,
  state_too_old: true,
  field_changed: true,
  migration_failed: true,
};

export const engineErrors = errorFamily<EngineErrorDetails>(
  {
    thread_id_invalid: (d) => `This is no thread id: ${d.problem}. Give a text of 1 to 1,024 characters.`,
    thread_unknown: (d) => `There is no thread "${d.thread}" yet: send it its first input.`,
    retention_invalid: (d) => `The retention cannot be used: ${d.problem}. Nothing was deleted.`,
    option_invalid: (d) => `The option "${d.option}" cannot be used: ${d.problem}. Nothing was done.`,
    lease_lost: (d) =>
      `Another worker took over thread "${d.thread}" (${d.reason}). What this one had committed is kept.`,
    checkpoint_unknown: (d) => `Thread "${d.thread}" has no checkpoint ${d.checkpoint}: take one from its list.`,
    wait_closed: (d) => `Wait ${d.wait} was answered before: "${d.winner}". This answer changed nothing.`,
    code_not_loaded: (d) =>
      `A part of this app that is needed now could not be loaded: ${d.reason}. Go online, or reload after an update of the app. Nothing was changed.`,
  },
  rare,
);
