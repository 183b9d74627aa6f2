import { errorFamily } from '../base/errors.ts';
import type { RareEngineErrorDetails } from './rare-errors.ts';

export interface EngineErrorDetails {
  thread_id_invalid: { problem: string };
  thread_unknown: { thread: string };
  thread_of_another_agent: { thread: string; agent: string; expected: string };
  not_owner: { thread: string; owner: string; needs: 'read' | 'write' | 'own' };
  agent_too_old: { thread: string; agentVersion: number; version: number };
  thread_busy: { thread: string; status: string };
  policy_unknown: { policy: string; known: string };
  event_name_invalid: { name: string };
  extension_invalid: { problem: string };
  retention_invalid: { problem: string };
  lease_lost: { thread: string; reason: string };
  checkpoint_unknown: { thread: string; checkpoint: string };
  limit_invalid: { limit: string };
  id_taken: { thread: string; dedupId: string; kept: string };
  wait_unknown: { thread: string; wait: string };
  wait_closed: { wait: string; winner: string };
  answer_mismatch: { wait: string; tool: string };
  answer_invalid: { wait: string; decision: string; allowed: string };
  code_not_loaded: { reason: string };
}

/** Of the same family, with their texts in `rare-errors.ts`. */
const rare: Readonly<Record<keyof RareEngineErrorDetails, true>> = {
  dedup_id_invalid: true,
  state_too_new: true,
  state_too_old: true,
  field_changed: true,
  migration_failed: true,
};

export const engineErrors = errorFamily<EngineErrorDetails>(
  {
    thread_id_invalid: (d) => `This is no thread id: ${d.problem}. Give a text of 1 to 1,024 characters.`,
    thread_unknown: (d) => `There is no thread "${d.thread}" yet: send it its first input.`,
    thread_of_another_agent: (d) =>
      `Thread "${d.thread}" belongs to agent "${d.agent}", not to "${d.expected}". Use another thread id. Nothing was changed.`,
    not_owner: (d) =>
      `Thread "${d.thread}" belongs to somebody else, and was not shared with "${d.owner}" to ${d.needs === 'own' ? 'share it' : d.needs} it. Ask its owner. Nothing was changed.`,
    agent_too_old: (d) =>
      `Thread "${d.thread}" was last run by version ${d.agentVersion} of its agent; this is version ${d.version}. Reload. Nothing was changed.`,
    thread_busy: (d) =>
      `Thread "${d.thread}" is busy (${d.status}), and this input was sent to be rejected then. It was not kept.`,
    policy_unknown: (d) => `There is no inbox policy "${d.policy}"; there are ${d.known}. The input was not kept.`,
    event_name_invalid: (d) => `"${d.name}" is no name of an event: give a text that is not empty. Nothing was kept.`,
    extension_invalid: (d) => `The limits cannot be extended: ${d.problem}. Nothing was changed.`,
    retention_invalid: (d) => `The retention cannot be used: ${d.problem}. Nothing was deleted.`,
    lease_lost: (d) =>
      `Another worker took over thread "${d.thread}" (${d.reason}). What this one had committed is kept.`,
    checkpoint_unknown: (d) => `Thread "${d.thread}" has no checkpoint ${d.checkpoint}: take one from its list.`,
    limit_invalid: (d) => `A list of ${d.limit} checkpoints cannot be given: give a whole number from 1.`,
    id_taken: (d) =>
      `The id "${d.dedupId}" of thread "${d.thread}" is taken: what is kept under it (${d.kept}) says something else. This one was not kept: send it under an id of its own.`,
    wait_unknown: (d) =>
      `Thread "${d.thread}" has no wait ${d.wait} any more, or never had: read its waits again. Nothing was changed.`,
    wait_closed: (d) => `Wait ${d.wait} was answered before: "${d.winner}". This answer changed nothing.`,
    answer_mismatch: (d) =>
      `The answer to wait ${d.wait} was given for something else than what is asked${d.tool === '' ? '' : ` about "${d.tool}"`} now: read the waits and ask again.`,
    answer_invalid: (d) => `Wait ${d.wait} cannot be answered with "${d.decision}". Answer ${d.allowed}.`,
    code_not_loaded: (d) =>
      `A part of this app that is needed now could not be loaded: ${d.reason}. Go online, or reload after an update of the app. Nothing was changed.`,
  },
  rare,
);
