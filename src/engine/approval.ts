import { readAnswer, readWait } from '../codec/wait-codec.ts';
import type { WaitId } from '../model/ids.ts';
import type { WaitAnswer } from '../model/wait.ts';
import { programErrors } from '../program/errors.ts';
import type { Approval, KnownEffect } from './effect-request.ts';
import { waitIdFor } from './identity.ts';
import { recordInputs } from './ledger-writes.ts';
import type { StepRun } from './step-run.ts';

/**
 * The arguments that a person allowed: those given, or edited ones.
 *
 * @throws `tool_denied`, `approval_expired`
 */
export async function askApproval(run: StepRun, effect: KnownEffect, approval: Approval): Promise<unknown> {
  const { request, key, askedDigest } = effect;
  if (!approval.isNeeded(request.args)) return request.args;
  const id = await approvalId(run, request.place);
  // An answer of its own comes before any grant: what a person denied stays denied on every run.
  const isAnswered = (await readAnswer(run.writer.codec, id)) !== undefined;
  const isGranted = !isAnswered && run.grants.has(request.name);
  if (isGranted && (await readWait(run.writer.codec, id)) === undefined) return request.args;
  await recordInputs(run);
  const answer = await run.waits.answerTo({
    id,
    kind: 'approval',
    step: run.scheduled.step,
    tool: request.name,
    effectKey: key,
    args: request.args,
    reason: approval.reason(request.args),
    digest: askedDigest,
    expiresInMs: approval.expiresInMs,
  });
  if (answer.decision === 'allow' && answer.forThread) {
    run.grants.add(request.name);
    await run.waits.grant(request.name);
  }
  return allowedArgs(effect, approval, answer);
}

/** A call that was begun before had its answer: what it granted for the thread is not to be lost with that run. */
export async function recallGrant(run: StepRun, { request }: KnownEffect): Promise<void> {
  const id = await approvalId(run, request.place);
  const found = await readAnswer(run.writer.codec, id);
  if (found?.answer.decision === 'allow' && found.answer.forThread) run.grants.add(request.name);
}

function approvalId(run: StepRun, place: string): Promise<WaitId> {
  return waitIdFor(run.writer.codec, run.scheduled.step, `${place}/approval`);
}

function allowedArgs({ request }: KnownEffect, approval: Approval, answer: WaitAnswer): unknown {
  switch (answer.decision) {
    case 'allow':
      return answer.args === undefined ? request.args : approval.check(answer.args);
    case 'expired':
      throw programErrors.make('approval_expired', { tool: request.name, afterMs: approval.expiresInMs ?? 0 });
    default: {
      const reason = answer.decision === 'deny' ? (answer.reason ?? '') : '';
      throw programErrors.make('tool_denied', { tool: request.name, reason });
    }
  }
}
