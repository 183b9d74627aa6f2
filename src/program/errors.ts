import { errorFamily } from '../base/errors.ts';
import { sentence } from '../base/text.ts';
import type { RareProgramErrorDetails } from './rare-errors.ts';

export interface ProgramErrorDetails {
  agent_invalid: { agent: string; problem: string };
  node_unknown: { agent: string; version: number; node: string; known: string };
  node_timed_out: { node: string; afterMs: number };
  edge_missing: { node: string };
  item_invalid: { node: string; problem: string };
  state_invalid: { field: string; problem: string };
  field_unknown: { field: string; known: string };
  /** `isMissing`: the thread is blocked until a version comes that has it; else a model made the name up, or it is no text. */
  tool_unknown: { tool: string; known: string; isMissing: boolean };
  tool_input_invalid: { tool: string; problem: string };
  tool_result_invalid: { tool: string; problem: string };
  effect_failed: { name: string; key: string; attempts: number; reason: string };
  effect_timed_out: { name: string; afterMs: number };
  effect_not_started: { name: string; lateMs: number };
  result_not_stored: { name: string; status: string };
  argument_invalid: { call: string; problem: string };
  calls_overlap: { first: string; second: string };
  call_not_awaited: { node: string; call: string };
  replay_mismatch: { step: string; recorded: string; called: string };
}

/** Of the same family, with their texts in `rare-errors.ts`. */
const rare: Readonly<Record<keyof RareProgramErrorDetails, true>> = {
  node_returned_nothing: true,
  model_output_invalid: true,
  model_missing: true,
  effect_compensated: true,
  effect_given_up: true,
  outcomes_differ: true,
  wait_cancelled: true,
  wait_expired: true,
  approval_expired: true,
  tool_denied: true,
  version_missing: true,
  fork_invalid: true,
  lines_failed: true,
  step_limit: true,
  resume_limit: true,
  question_declined: true,
  event_invalid: true,
  sleep_invalid: true,
  child_unknown: true,
  children_too_deep: true,
  child_failed: true,
  model_unknown: true,
  call_unplaced: true,
  part_invalid: true,
  usage_invalid: true,
};

export const programErrors = errorFamily<ProgramErrorDetails>(
  {
    agent_invalid: (d) => `Agent "${d.agent}" cannot be used: ${sentence(d.problem)}`,
    node_unknown: (d) =>
      `Version ${d.version} of agent "${d.agent}" has no node "${d.node}"; it has ${d.known}. Correct the goto(…) or edge that leads there; where an earlier version had it, bring it back, or name its new name in "aliases": the thread goes on there.`,
    node_timed_out: (d) => `Node "${d.node}" did not end within ${d.afterMs} ms, its timeLimitMs.`,
    edge_missing: (d) =>
      `Node "${d.node}" returned update(…), but no edge leaves it. Add one, or return goto(…) or end(…).`,
    item_invalid: (d) =>
      `The item of node "${d.node}" cannot be used: ${sentence(d.problem)} Items are what fanOut(node, items) gave.`,
    state_invalid: (d) =>
      `The update of field "${d.field}" does not fit its schema: ${sentence(d.problem)} Nothing was committed.`,
    field_unknown: (d) => `There is no field "${d.field}" to give a value to; the agent has ${d.known}.`,
    tool_unknown: (d) =>
      `There is no tool "${d.tool}"; the agent has ${d.known}.${d.isMissing ? ' Bring it back, or name its new name in "aliases": the thread goes on there.' : ''}`,
    tool_input_invalid: (d) =>
      `The input for tool "${d.tool}" does not fit its schema: ${sentence(d.problem)} It was not called.`,
    tool_result_invalid: (d) => `The result of tool "${d.tool}" cannot be stored: ${d.problem} Return plain data.`,
    effect_failed: (d) => `"${d.name}" failed${d.attempts === 1 ? '' : ` in all ${d.attempts} attempts`}: ${d.reason}`,
    effect_timed_out: (d) => `"${d.name}" did not answer within ${d.afterMs} ms.`,
    effect_not_started: (d) => `"${d.name}" was not started: the tab stood still for ${d.lateMs} ms too long.`,
    result_not_stored: (d) =>
      `"${d.name}" ended as ${d.status}, and the disk was full: its result could not be stored.`,
    argument_invalid: (d) => `${d.call} cannot be called so: ${d.problem}. Nothing was kept of this call.`,
    calls_overlap: (d) =>
      `"${d.second}" cannot be told apart from "${d.first}", called in the same scope. Use all(items, (item, { call }) => …), or give each call a { key } of its own.`,
    call_not_awaited: (d) => `Node "${d.node}" ended before "${d.call}" did: await every call.`,
    replay_mismatch: (d) =>
      `Step ${d.step} was run again and called ${d.called} where ${d.recorded} is on record. Nodes must make the same calls on every run: take time and chance from now() and random(). Nothing was repeated.`,
  },
  rare,
);
