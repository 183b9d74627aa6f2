import { errorFamily } from '../base/errors.ts';
import { sentence, shown } from '../base/text.ts';

/** Thrown only by code that is loaded on demand. */
export interface RareProgramErrorDetails {
  node_returned_nothing: { node: string };
  model_output_invalid: { output: string; problem: string; text: string };
  effect_given_up: { name: string; key: string };
  effect_compensated: { name: string; key: string };
  model_missing: { node: string };
  tool_denied: { tool: string; reason: string };
  approval_expired: { tool: string; afterMs: number };
  wait_expired: { kind: string; about: string; afterMs: number };
  wait_cancelled: { kind: string; about: string };
  outcomes_differ: { name: string; key: string; entry: number; later: string };
  version_missing: { agent: string; version: number; kept: string };
  fork_invalid: { node: string; problem: string };
  lines_failed: { node: string; failed: number; lines: number; first: string };
  step_limit: { steps: number; node: string };
  resume_limit: { resumes: number; node: string };
  question_declined: { question: string; reason: string };
  event_invalid: { event: string; problem: string };
  sleep_invalid: { durationMs: number };
  child_unknown: { agent: string; known: string };
  children_too_deep: { chain: string; most: number };
  child_failed: { agent: string; thread: string; status: string; reason: string };
  model_unknown: { model: string; known: string };
  call_unplaced: { name: string; entry: number };
  part_invalid: { model: string; problem: string };
  usage_invalid: { model: string; inputTokens: string; outputTokens: string; cost: string };
}

export const rareProgramErrors = errorFamily<RareProgramErrorDetails>({
  node_returned_nothing: (d) =>
    `Node "${d.node}" returned nothing that goto(…), end(…) or update(…) made. Return one of them.`,
  model_output_invalid: (d) =>
    `The model's answer is no valid "${d.output}": ${sentence(d.problem)} It began with: ${d.text}`,
  effect_given_up: (d) => `"${d.name}" was given up: whether it happened is not known.`,
  effect_compensated: (d) => `"${d.name}" was undone: there is no result of it.`,
  model_missing: (d) => `Node "${d.node}" asked for a model: give one to serve(agent, { model }).`,
  tool_denied: (d) =>
    `The call of tool "${d.tool}" was denied${d.reason === '' ? '' : `: ${d.reason}`}. It was not made.`,
  approval_expired: (d) => `Nobody allowed the call of tool "${d.tool}" within ${d.afterMs} ms. It was not made.`,
  wait_expired: (d) => `Nothing came for the ${d.kind} "${d.about}" within ${d.afterMs} ms. Catch this error to go on.`,
  wait_cancelled: (d) =>
    `The ${d.kind} "${d.about}" was closed when its run ended, and was never answered. Catch this to go on without it.`,
  outcomes_differ: (d) =>
    `"${d.name}" had two outcomes that differ: the first stands, the later one (${d.later}) is kept beside it in ledger entry ${d.entry}. Look up at the receiver what happened.`,
  version_missing: (d) =>
    `The thread was begun by version ${d.version} of agent "${d.agent}" and is pinned to it; this app has ${d.kept}. Bring that version back in \`earlier\`. Nothing was changed.`,
  fork_invalid: (d) => `Node "${d.node}" cannot fork: ${d.problem}. Nothing was committed.`,
  lines_failed: (d) =>
    `${d.failed} of the ${d.lines} lines that node "${d.node}" forked into failed. The first: ${d.first} What the others did is kept.`,
  step_limit: (d) =>
    `The run stopped at node "${d.node}" after ${d.steps} steps, the agent's maxSteps. Its state is kept: extend the run by steps, and it goes on.`,
  resume_limit: (d) =>
    `Node "${d.node}" was resumed ${d.resumes} times and never ended: it seems to stop its worker. Its state is kept.`,
  question_declined: (d) =>
    `The question "${d.question}" was not answered${d.reason === '' ? '' : `: ${d.reason}`}. Catch this error to go on without an answer.`,
  event_invalid: (d) => `Event "${d.event}" does not fit what the node waits for: ${sentence(d.problem)} It was taken.`,
  sleep_invalid: (d) => `Cannot sleep for ${shown(d.durationMs)} ms: give a number from 0 to 8e15.`,
  child_unknown: (d) =>
    `Agent "${d.agent}" cannot be started from here: name it in \`agents\`; there are ${d.known}. Nothing was started.`,
  children_too_deep: (d) =>
    `Agents start one another in a line of more than ${d.most}: ${d.chain}. One of them starts itself again without an end. Nothing was started.`,
  child_failed: (d) => `Child "${d.agent}" on thread "${d.thread}" ended as ${d.status}: ${d.reason}`,
  model_unknown: (d) =>
    `The policy names model "${d.model}"; serve(agent, { models }) has ${d.known}. Give it there by that name.`,
  call_unplaced: (d) =>
    `Somebody had gone back or edited, and the record of that is lost; entry ${d.entry} of the ledger is a call of "${d.name}" made since, and may be this one.`,
  part_invalid: (d) => `Model "${d.model}" gave a part that cannot be used: ${d.problem}. Mend its stream.`,
  usage_invalid: (d) =>
    `Model "${d.model}" finished with a use that cannot be counted: inputTokens ${d.inputTokens}, outputTokens ${d.outputTokens}, cost ${d.cost}. Each must be a number from 0: mend its finish part, or its price.`,
});
