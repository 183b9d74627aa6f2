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
  if (run.tally.grants.has(request.name)) return request.args;
  await recordInputs(run);
  const answer = await run.waits.answerTo({
    id: await waitIdFor(run.writer.codec, run.scheduled.step, `${request.place}/approval`),
    kind: 'approval',
    step: run.scheduled.step,
    tool: request.name,
    effectKey: key,
    args: request.args,
    reason: approval.reason(request.args),
    digest: askedDigest,
    expiresInMs: approval.expiresInMs,
  });
  if (answer.decision === 'allow' && answer.forThread) run.tally.grants.add(request.name);
  return allowedArgs(effect, approval, answer);
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
