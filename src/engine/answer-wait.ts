/** What whoever is asked answers: checked against the wait, and kept once and for all (PROTOCOL 6). */
import { textOf } from '../base/errors.ts';
import { shown } from '../base/text.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import { isSameAnswer, readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { CommitGroup, GroupResult } from '../model/commit.ts';
import type { Frame } from '../model/frame.ts';
import type { WaitId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { type Decision, decisionsFor, type Wait, type WaitAnswer } from '../model/wait.ts';
import { checkedInput } from '../program/tool-input.ts';
import { toolNow } from '../program/versions.ts';
import { engineErrors } from './errors.ts';
import { policyReplies } from './policy-replies.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { rareEngineErrors } from './rare-errors.ts';
import type { OpenThread } from './thread-access.ts';

export interface AnswerParts extends OpenThread {
  readonly id: string;
  readonly ports: RunPorts;
  readonly options: EngineOptions;
  readonly emit: (frame: Frame) => void;
  give(row: ThreadRow, what: Pick<CommitGroup, 'conditions' | 'records'>): Promise<GroupResult>;
}

interface Given {
  readonly id: string;
  readonly digest: string;
  readonly answer: WaitAnswer;
}

/**
 * Keeps the answer. The same one again changes nothing.
 *
 * @throws `wait_unknown`, `wait_closed` (with the winner), `answer_mismatch`, `answer_invalid`, `tool_input_invalid`
 */
export async function answerWait(parts: AnswerParts, { id, digest, answer }: Given): Promise<void> {
  const { ports, row, codec } = parts;
  const { agent } = parts.options;
  const wait = typeof id === 'string' ? await readWait(codec, id as WaitId) : undefined;
  if (wait === undefined) throw rareEngineErrors.make('wait_unknown', { thread: parts.id, wait: textOf(id) });
  checkAnswer(wait, answer);
  if (digest !== wait.digest) throw rareEngineErrors.make('answer_mismatch', { wait: id, tool: wait.tool });
  const tool = agent.tools[toolNow(agent, wait.tool)];
  if (tool !== undefined && answer.decision === 'allow' && answer.args !== undefined) checkedInput(tool, answer.args);
  const nowMs = ports.time.nowMs();
  const isOver = wait.expiresAtMs !== null && wait.expiresAtMs <= nowMs;
  const blobs = new BlobBatch({ mayReuse: false });
  const record = await sealAnswer(codec, wait, isOver ? { decision: 'expired' } : answer, nowMs, blobs);
  const { status } = await parts.give(row, {
    conditions: [{ kind: 'wait_open', wait: wait.id }, ...blobs.conditions()],
    records: [record, ...blobs.writes()],
  });
  if (status === 'applied') parts.emit({ type: 'answered', wait: id });
  if (status === 'applied' && !isOver) return;
  const winner = (await readAnswer(codec, wait.id))?.answer;
  if (winner !== undefined && (await isSameAnswer(codec, winner, answer))) return;
  throw engineErrors.make('wait_closed', { wait: id, winner: winner?.decision ?? 'its thread' });
}

/** What each decision of a person carries besides. */
const carried: Partial<Record<Decision, readonly string[]>> = {
  allow: ['args', 'forThread'],
  deny: ['reason'],
  done: ['result'],
  reply: ['value'],
};

/** Nobody can answer twice: what would be passed over, or end the run, is refused. @throws `answer_invalid` */
function checkAnswer(wait: Wait, answer: WaitAnswer): void {
  const problem = problemWith(wait, answer);
  if (problem !== undefined) throw rareEngineErrors.make('answer_invalid', { wait: wait.id, ...problem });
}

function problemWith({ kind, args }: Wait, answer: WaitAnswer): { decision: string; allowed: string } | undefined {
  const decision = answer?.decision;
  const listed = decisionsFor[kind].map((each) => (carried[each] ? `${each} (${carried[each].join(', ')})` : each));
  const all = listed.join(', ');
  if (!decisionsFor[kind].includes(decision)) return { decision: textOf(decision), allowed: all };
  const names = carried[decision] ?? [];
  const given: Readonly<Record<string, unknown>> = { ...answer };
  const strange = Object.keys(given).find((key) => key !== 'decision' && !names.includes(key));
  if (strange !== undefined) return { decision: `${decision} with "${strange}"`, allowed: all };
  const { forThread = false, reason = '', value } = given;
  if (typeof forThread !== 'boolean')
    return { decision: `${decision} with forThread ${shown(forThread)}`, allowed: 'with true or false' };
  if (typeof reason !== 'string')
    return { decision: `${decision} with the reason ${shown(reason)}`, allowed: 'with a text' };
  if (decision !== 'reply') return undefined;
  if (!('value' in given)) return { decision: 'reply without a value', allowed: all };
  const replies = repliesOf(args) ?? [value];
  return replies.includes(value)
    ? undefined
    : { decision: `reply ${shown(value)}`, allowed: `reply ${replies.map(shown).join(', ')}` };
}

/** What a policy that asks can be told. */
function repliesOf(args: unknown): readonly unknown[] | undefined {
  const { node, replies } = (args ?? {}) as { readonly node?: unknown; readonly replies?: unknown };
  const isOfPolicy = typeof node === 'string' && Array.isArray(replies) && shown(replies) === shown(policyReplies);
  return isOfPolicy ? replies : undefined;
}
