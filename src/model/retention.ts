/** What of a thread is kept, and for how long (A12). */
export interface RetentionPolicy {
  /** Checkpoints that stay, counted from the head. Tips of forks, pins and two verified snapshots stay in any case. */
  readonly keepCheckpoints: number;
  /** Events of older commits stay this long, with the inputs, calls and answers that they refer to. */
  readonly eventDays: number;
  /** A failed thread goes so many days after its last change. */
  readonly failedDays: number;
  /** A finished or cancelled one; it goes to the archive first, if there is one. */
  readonly doneDays: number;
}

export const defaultRetention: RetentionPolicy = { keepCheckpoints: 10, eventDays: 30, failedDays: 30, doneDays: 7 };

export const dayMs = 86_400_000;
