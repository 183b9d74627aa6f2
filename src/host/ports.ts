/** What a host needs of its platform beside the engine's ports. */
export interface Locks {
  /**
   * Runs `work` while this worker alone holds the lock. Waits for its turn; gives the turn up when the signal is aborted
   * (rejecting with its reason) unless `work` has begun.
   */
  hold<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

/** Tells other workers on the same database that something changed. Only a hint: runners look themselves (PROTOCOL 6). */
export interface Hints {
  post(thread: string): void;
  listen(onHint: (thread: string) => void): void;
  close(): void;
}
