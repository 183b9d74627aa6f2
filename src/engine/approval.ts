import { readWait } from '../codec/wait-codec.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import type { Approval, KnownEffect } from './effect-request.ts';
import { waitIdFor } from './identity.ts';
import { recordInputs } from './ledger-writes.ts';
import { onDemand } from './load-on-demand.ts';
import type { StepRun } from './step-run.ts';

/**
 * The arguments that a person allowed: those given, or edited ones. A call that somebody was asked about waits for that answer and
 * obeys it whatever the rule says now: the rule may be of newer code, or go by something outside.
 *
 * @throws `tool_denied`, `approval_expired`
 */
export async function askApproval(run: StepRun, effect: KnownEffect, approval: Approval): Promise<unknown> {
  const { request, key, askedDigest } = effect;
  const mayBeAsked = hasRecordedWaits(run);
  if (!mayBeAsked && !approval.isNeeded(request.args)) return request.args;
  const id = await approvalId(run, request.place);
  const known = await readWait(run.writer.codec, id);
  if (known === undefined && run.grants.has(request.name)) return request.args;
  if (known === undefined && mayBeAsked && !approval.isNeeded(request.args)) return request.args;
  await recordInputs(run);
  const answer = await run.waits.answerTo({
    id,
    kind: 'approval',
    step: run.scheduled.step,
    tool: request.name,
    effectKey: key,
    args: request.args,
    reason: known?.reason ?? approval.reason(request.args),
    digest: askedDigest,
    expiresInMs: known === undefined ? approval.expiresInMs : allowedMs(known),
  });
  if (answer.decision === 'allow' && answer.forThread) {
    run.grants.add(request.name);
    await run.waits.grant(request.name);
  }
  return allowedArgs(effect, approval, answer, known);
}

/** A call that was begun before had its answer: what it granted for the thread is not to be lost with that run. */
export async function recallGrant(run: StepRun, { request }: KnownEffect): Promise<void> {
  if (!request.approval?.mayAsk && !hasRecordedWaits(run)) return;
  const id = await approvalId(run, request.place);
  const said = await run.waits.recorded(id);
  if (said?.decision === 'allow' && said.forThread) run.grants.add(request.name);
}

/** Whether an earlier run of the step may have asked: after a repair its waits are on record, and no head may know of them. */
function hasRecordedWaits({ recordedWaits, writer }: StepRun): boolean {
  return recordedWaits !== undefined || Boolean(writer.image.state?.checkpoint.control.ledger.replay);
}

function allowedMs({ openedAtMs, expiresAtMs }: Wait): number | null {
  return expiresAtMs === null ? null : expiresAtMs - openedAtMs;
}

function approvalId(run: StepRun, place: string): Promise<WaitId> {
  return waitIdFor(run.writer.codec, run.scheduled.step, `${place}/approval`);
}

async function allowedArgs(
  { request }: KnownEffect,
  approval: Approval,
  answer: WaitAnswer,
  known: Wait | undefined,
): Promise<unknown> {
  if (answer.decision === 'allow') return answer.args === undefined ? request.args : approval.check(answer.args);
  const { rareProgramErrors } = await onDemand();
  const tool = request.name;
  if (answer.decision === 'expired') {
    const afterMs = (known ? allowedMs(known) : approval.expiresInMs) ?? 0;
    throw rareProgramErrors.make('approval_expired', { tool, afterMs });
  }
  throw rareProgramErrors.make('tool_denied', { tool, reason: (answer.decision === 'deny' && answer.reason) || '' });
}
