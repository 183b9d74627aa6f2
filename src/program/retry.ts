/** How often and how an effect or a node is tried again. Counters are durable: a restart does not begin them anew. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  /** Waits before the second, third … attempt, in milliseconds; the last one goes on for all further ones. */
  readonly backoffMs: readonly number[];
  /** Part of each wait that is left to chance, from 0 to 1, so that many do not come back at once. */
  readonly jitter: number;
}

export const defaultRetry: RetryPolicy = { attempts: 3, backoffMs: [1_000, 5_000, 30_000], jitter: 0.2 };

/**
 * What is left of the wait after the attempt that failed at `failedAtMs`. At most the whole wait again: a clock that was put
 * back must not hold the thread.
 */
export function backoffLeft(
  policy: RetryPolicy,
  failures: number,
  { failedAtMs, nowMs, fraction }: { readonly failedAtMs: number; readonly nowMs: number; readonly fraction: number },
): number {
  const wholeMs = backoffAfter(policy, failures, fraction);
  return Math.min(wholeMs, Math.max(0, failedAtMs + wholeMs - nowMs));
}

/** The wait before attempt `attempt + 1`, after `attempt` (from 1) failed. `fraction` is in [0, 1). */
export function backoffAfter(policy: RetryPolicy, attempt: number, fraction: number): number {
  const base = policy.backoffMs[Math.min(attempt, policy.backoffMs.length) - 1] ?? 0;
  return Math.round(base * (1 - policy.jitter / 2 + policy.jitter * fraction));
}
