/** What of a thread is kept, and for how long (A12). */
import { shown } from '../base/text.ts';

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

/** What is wrong with a policy; `undefined` if nothing is. What is never to go has Infinity. */
export function retentionProblem(policy: object): string | undefined {
  if (typeof policy !== 'object' || policy === null)
    return `it is ${policy === null ? 'null' : `of type ${typeof policy}`}, not an object`;
  const known = Object.keys(defaultRetention);
  for (const [key, amount] of Object.entries(policy as Readonly<Record<string, unknown>>)) {
    if (!known.includes(key)) return `it has "${key}"; there are ${known.join(', ')}`;
    const isWhole = key !== 'keepCheckpoints' || amount === Infinity || Number.isSafeInteger(amount);
    if (typeof amount !== 'number' || !(amount >= 0) || !isWhole)
      return `${key} is ${shown(amount)}, not a ${key === 'keepCheckpoints' ? 'whole ' : ''}number from 0`;
  }
  return undefined;
}
