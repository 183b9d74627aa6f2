import { errorFamily } from '../base/errors.ts';

/** Thrown only by code that is loaded on demand. */
export interface RareEngineErrorDetails {
  dedup_id_invalid: { thread: string; found: string };
  state_too_new: { thread: string; stateVersion: number; agentVersion: number; known: number };
  state_too_old: { thread: string; stateVersion: number; agentVersion: number; known: number; missing: number };
  field_changed: { thread: string; field: string; stored: string; declared: string; stateVersion: number };
  migration_failed: { thread: string; from: number; to: number; agentVersion: number; reason: string };
}

export const rareEngineErrors = errorFamily<RareEngineErrorDetails>({
  dedup_id_invalid: (d) =>
    `An item for thread "${d.thread}" was given with an id of type ${d.found}: give the id itself, a text (on an engine: send(update, "my-id")). Nothing was kept.`,
  state_too_new: (d) =>
    `The state of thread "${d.thread}" has version ${d.stateVersion}, written by version ${d.agentVersion} of its agent; this one knows up to ${d.known}. Reload. Nothing was changed.`,
  state_too_old: (d) =>
    `The state of thread "${d.thread}" has version ${d.stateVersion}, written by version ${d.agentVersion} of its agent; this one knows ${d.known} and has no migration to ${d.missing}. Add it. Nothing was changed.`,
  field_changed: (d) =>
    `Field "${d.field}" of thread "${d.thread}" is stored as a ${d.stored}, and the agent declares a ${d.declared} with the same stateVersion ${d.stateVersion}. Raise it, and add a migration. Nothing was changed.`,
  migration_failed: (d) =>
    `The migration of thread "${d.thread}" from state version ${d.from} (written by version ${d.agentVersion} of its agent) to ${d.to} failed: ${d.reason}. Nothing was changed.`,
});
