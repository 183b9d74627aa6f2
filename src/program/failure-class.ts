/** What kind of interruption an error is (B8): decided by what it says of itself, not by who threw it. */
import { HoldfastError } from '../base/errors.ts';
import { Refusal } from './tool.ts';

/**
 * `recoverable`: the same again may succeed (network, rate limit, a temporary fault). `needs_repair`: the same again cannot,
 * something else may (bad input, unexpected output of a tool or model). `final`: neither (a fault in the program, something
 * that is gone, a refusal).
 */
export type FailureClass = 'recoverable' | 'needs_repair' | 'final';

export const failureClasses: readonly FailureClass[] = ['recoverable', 'needs_repair', 'final'];

const recoverableCodes: readonly string[] = ['effect_timed_out', 'node_timed_out', 'effect_not_started'];
const repairCodes: readonly string[] = [
  'model_output_invalid',
  'usage_invalid',
  'part_invalid',
  'tool_input_invalid',
  'tool_result_invalid',
  'tool_unknown',
  'item_invalid',
  'event_invalid',
  'state_invalid',
];
/** Request timeout, too early, too many requests; servers that are down or overloaded have 5xx. */
const recoverableStatuses: readonly number[] = [408, 425, 429];
/** Bad request, unprocessable content. */
const repairStatuses: readonly number[] = [400, 422];
/** Names and texts by which engines tell of a lost network; iOS and aborted background requests included (FIELD-NOTES 23). */
const networkNames: readonly string[] = ['NetworkError', 'TimeoutError', 'AbortError'];
const networkText =
  /failed to fetch|fetch failed|load failed|networkerror|network (error|connection)|econn|etimedout|socket hang up/i;

export function failureClassOf(error: unknown): FailureClass {
  if (error instanceof Refusal) return error.details.retry ? 'recoverable' : 'final';
  if (error instanceof HoldfastError) {
    if (recoverableCodes.includes(error.code)) return 'recoverable';
    if (repairCodes.includes(error.code)) return 'needs_repair';
    if (error.code === 'refused')
      return (error.details as { retry?: boolean }).retry === false ? 'final' : 'recoverable';
    if (error.code === 'effect_failed' && error.cause !== undefined) return failureClassOf(error.cause);
    return 'final';
  }
  if (!(error instanceof Error)) return 'final';
  const { status } = error as { readonly status?: unknown };
  if (typeof status === 'number') {
    if (status >= 500 || recoverableStatuses.includes(status)) return 'recoverable';
    return repairStatuses.includes(status) ? 'needs_repair' : 'final';
  }
  if (isNetworkFailure(error)) return 'recoverable';
  return error.cause === undefined ? 'final' : failureClassOf(error.cause);
}

/** Whether a request failed because the network is not there. */
function isNetworkFailure(error: Error): boolean {
  return networkNames.includes(error.name) || networkText.test(error.message);
}
