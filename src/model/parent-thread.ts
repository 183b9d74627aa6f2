import type { Incarnation, ThreadHash, WaitId } from './ids.ts';

/** Who waits for a thread, and where. */
export interface ParentThread {
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation;
  readonly wait: WaitId;
  /** The agents from the first ancestor down to the parent. */
  readonly ancestors: readonly string[];
}
