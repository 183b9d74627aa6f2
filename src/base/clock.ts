/** Time and waiting, as a port: nothing below the host reads the clock of the machine. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump in both directions: never use it for ordering. */
  nowMs(): number;
  /**
   * Milliseconds since some moment in this process. Goes on evenly whatever is done to the wall clock. Many browsers stop it
   * while the machine sleeps.
   */
  steadyMs(): number;
  /**
   * Resolves after `durationMs`, at once for zero or less.
   *
   * Rejects with the signal's reason as soon as the signal is aborted; nothing stays scheduled then.
   */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}
