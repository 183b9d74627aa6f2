import { errorFamily } from '../base/errors.ts';
import { sentence } from '../base/text.ts';

export interface CheckpointerErrorDetails {
  thread_id_invalid: { problem: string };
  head_moved: { thread: string; expected: string | null; actual: string | null };
  checkpoint_unknown: { thread: string; checkpoint: string };
  checkpoint_needed: { thread: string; checkpoint: string };
  checkpoint_pinned: { thread: string; checkpoint: string; forks: string };
  thread_of_an_agent: { thread: string; agent: string };
  not_owner: { thread: string; owner: string };
  thread_deleted: { thread: string };
  state_invalid: { field: string; problem: string };
  log_not_a_list: { field: string; found: string };
  state_not_an_object: { found: string };
  field_unknown: { field: string; known: string };
  option_invalid: { option: string; problem: string };
}

export const checkpointerErrors = errorFamily<CheckpointerErrorDetails>({
  thread_id_invalid: (d) => `This is no thread id: ${d.problem}. Give a text of 1 to 1,024 characters.`,
  head_moved: (d) =>
    `Head of thread "${d.thread}" is ${d.actual}, expected ${d.expected}: ${d.expected === null ? 'the thread exists, and was not loaded here' : 'another writer got there first'}. Nothing was saved. Load the thread and save again${d.expected === null ? '' : ", or save with { onConflict: 'rebase' }"}.`,
  checkpoint_unknown: (d) => `Thread "${d.thread}" has no checkpoint ${d.checkpoint}.`,
  checkpoint_needed: (d) =>
    `Checkpoint ${d.checkpoint} is the head of thread "${d.thread}" and cannot be deleted alone. Delete the thread, or save a newer one first.`,
  checkpoint_pinned: (d) =>
    `Checkpoint ${d.checkpoint} of thread "${d.thread}" cannot be deleted: ${d.forks} was forked from it. Keep it, or delete the whole thread.`,
  thread_of_an_agent: (d) =>
    `Thread "${d.thread}" is run by agent "${d.agent}". It can be read here, but only its agent may write to it.`,
  not_owner: (d) => `Thread "${d.thread}" belongs to somebody else than "${d.owner}". Nothing was read or changed.`,
  thread_deleted: (d) => `Thread "${d.thread}" was deleted while it was being saved. Nothing was saved.`,
  state_invalid: (d) => `Field "${d.field}" does not fit its schema: ${sentence(d.problem)} Nothing was saved.`,
  state_not_an_object: (d) =>
    `A state is a plain object whose properties are its fields, not ${d.found}. Nothing was saved.`,
  field_unknown: (d) =>
    `Field "${d.field}" is not declared; declared are ${d.known}. Declare it, as secret(…) if it must not be stored. Nothing was saved.`,
  option_invalid: (d) => `The option "${d.option}" cannot be used: ${d.problem}. Nothing was read or changed.`,
  log_not_a_list: (d) => `Field "${d.field}" is declared as a log, so its value must be a list, not ${d.found}.`,
});
