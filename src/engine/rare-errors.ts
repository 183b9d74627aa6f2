import { errorFamily } from '../base/errors.ts';

/** Thrown only by code that is loaded on demand. */
export interface RareEngineErrorDetails {
  answer_mismatch: { wait: string; tool: string };
  thread_busy: { thread: string; status: string };
  agent_too_old: { thread: string; agentVersion: number; version: number };
  wait_unknown: { thread: string; wait: string };
  answer_invalid: { wait: string; decision: string; allowed: string };
  dedup_id_invalid: { thread: string; found: string };
  thread_of_another_agent: { thread: string; agent: string; expected: string };
  not_owner: { thread: string; owner: string; needs: 'read' | 'write' | 'own' };
  policy_unknown: { policy: string; known: string };
  event_name_invalid: { name: string };
  extension_invalid: { problem: string };
  limit_invalid: { limit: string };
  id_taken: { thread: string; dedupId: string; kept: string };
  share_invalid: { problem: string };
  state_too_new: { thread: string; stateVersion: number; agentVersion: number; known: number };
  state_too_old: { thread: string; stateVersion: number; agentVersion: number; known: number; missing: number };
  field_changed: { thread: string; field: string; stored: string; declared: string; stateVersion: number };
  migration_failed: { thread: string; from: number; to: number; agentVersion: number; reason: string };
}

export const rareEngineErrors = errorFamily<RareEngineErrorDetails>({
  answer_mismatch: (d) =>
    `The answer to wait ${d.wait} was given for something else than what is asked${d.tool === '' ? '' : ` about "${d.tool}"`} now: read the waits and ask again.`,
  thread_busy: (d) =>
    `Thread "${d.thread}" is busy (${d.status}), and this input was sent to be rejected then. It was not kept.`,
  agent_too_old: (d) =>
    `Thread "${d.thread}" was last run by version ${d.agentVersion} of its agent; this is version ${d.version}. Reload. Nothing was changed.`,
  wait_unknown: (d) =>
    `Thread "${d.thread}" has no wait ${d.wait} any more, or never had: read its waits again. Nothing was changed.`,
  answer_invalid: (d) =>
    `Wait ${d.wait} cannot be answered with ${JSON.stringify(d.decision)}. ${d.allowed === '' ? 'No answer fits: it ends by itself, or by signal().' : `Answer ${d.allowed}.`}`,
  dedup_id_invalid: (d) =>
    `An item for thread "${d.thread}" was given with an id that cannot be used (${d.found}): give the id itself, a text that is not empty (on an engine: send(update, "my-id")). Nothing was kept.`,
  thread_of_another_agent: (d) =>
    `Thread "${d.thread}" belongs to agent "${d.agent}", not to "${d.expected}". Use another thread id. Nothing was changed.`,
  not_owner: (d) =>
    `Thread "${d.thread}" belongs to somebody else, and was not shared with "${d.owner}" to ${d.needs === 'own' ? 'share it' : d.needs} it. Ask its owner. Nothing was changed.`,
  policy_unknown: (d) => `There is no inbox policy "${d.policy}"; there are ${d.known}. The input was not kept.`,
  event_name_invalid: (d) =>
    `"${d.name}" is no name of an event: give a text that is not empty, without half a surrogate pair or a byte order mark. Nothing was kept.`,
  extension_invalid: (d) => `The limits cannot be extended: ${d.problem}. Nothing was changed.`,
  limit_invalid: (d) => `A list of ${d.limit} cannot be given: give a whole number from 1.`,
  id_taken: (d) =>
    `The id "${d.dedupId}" of thread "${d.thread}" is taken: what is kept under it (${d.kept}) says something else. This one was not kept: send it under an id of its own.`,
  share_invalid: (d) => `The thread cannot be shared so: ${d.problem}. Nothing was changed.`,
  state_too_new: (d) =>
    `The state of thread "${d.thread}" has version ${d.stateVersion}, written by version ${d.agentVersion} of its agent; this one knows up to ${d.known}. Reload. Nothing was changed.`,
  state_too_old: (d) =>
    `The state of thread "${d.thread}" has version ${d.stateVersion}, written by version ${d.agentVersion} of its agent; this one knows ${d.known} and has no migration to ${d.missing}. Add it. Nothing was changed.`,
  field_changed: (d) =>
    `Field "${d.field}" of thread "${d.thread}" is stored as a ${d.stored}, and the agent declares a ${d.declared} with the same stateVersion ${d.stateVersion}. Raise it, and add a migration. Nothing was changed.`,
  migration_failed: (d) =>
    `The migration of thread "${d.thread}" from state version ${d.from} (written by version ${d.agentVersion} of its agent) to ${d.to} failed: ${d.reason}. Nothing was changed.`,
});
