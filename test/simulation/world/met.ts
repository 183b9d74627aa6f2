/** What simulators usually miss (PROTOCOL 10): each named, and counted where it comes to pass. */
import type { Operation } from './life.ts';
import { isCheckpoint, seeCheckpoint } from './peek.ts';

export const toMeet = [
  'a crash during recovery',
  'a crash during verify',
  'a crash during compensation',
  'a crash during collection',
  'a crash during a migration',
  'a commit that is applied and not acknowledged',
  'a freeze between the intent and its call',
  'a freeze between the last check and the call',
  'a request that arrives after the death of its sender',
  'a suffix that is lost while the outside keeps what happened',
  'a record that is lost with its process',
  'another answer of the model on a second call',
  'a thread that is deleted and made again',
  'older code that takes over from newer',
  'a quota that fails results only',
  'a poisoned process',
  'a state that is edited',
  'a thread that is taken back',
  'a thread that is forked',
  'a half-made fork that is made again',
] as const;

export type ToMeet = (typeof toMeet)[number];

export class Met {
  readonly counts: Partial<Record<ToMeet, number>> = {};

  add(what: ToMeet): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** A process dies, or stands still, at this operation. */
  crash({ kind, name, groups = [] }: Operation, isRecovering: boolean, wasSent: boolean): void {
    if (isRecovering) this.add('a crash during recovery');
    if (name.startsWith('about '))
      this.add(name === 'about book' ? 'a crash during compensation' : 'a crash during verify');
    if (name === 'deleteRecords' || name === 'deleteThread') this.add('a crash during collection');
    if (kind === 'outside' && name.startsWith('call ') && wasSent)
      this.add('a request that arrives after the death of its sender');
    if (name !== 'commit') return;
    if (wasSent) this.add('a commit that is applied and not acknowledged');
    const checkpoints = groups.flatMap(({ records }) => records.filter(({ table }) => table === 'checkpoints'));
    if (checkpoints.some((record) => isCheckpoint(record) && seeCheckpoint(record).cause === 'migrated'))
      this.add('a crash during a migration');
  }
}
