/**
 * Everything that is loaded only when a thread is looked back at, taken back, forked or compared. One module for all of it:
 * with several, bundlers cut what every run needs into pieces, which costs each start 4 KB gzip.
 */
import { giveRecorded } from './reuse.ts';
import { edit, rollBack } from './time-travel.ts';
import { compare } from './time-travel-compare.ts';
import { diff, inspect } from './time-travel-diff.ts';
import { fork } from './time-travel-fork.ts';
import { checkpointBefore, returnTo, stateAt } from './time-travel-policy.ts';
import { compensateAll } from './time-travel-undo.ts';

export const travel = {
  giveRecorded,
  compensateAll,
  inspect,
  diff,
  rollBack,
  edit,
  fork,
  compare,
  checkpointBefore,
  returnTo,
  stateAt,
} as const;
