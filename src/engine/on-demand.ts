/**
 * Everything that is loaded only when it is first needed: what a run needs rarely, and what is only asked for. One module for
 * all of it: one file to fetch and to cache, and with several, bundlers cut what every run needs into pieces, which costs each
 * start 3 KB gzip. For the same reason it stands on all of `run.ts`: what both need is in that one's file then, and in no third.
 * Nobody imports this file but `load-on-demand.ts`.
 */
import { readMarks } from '../codec/quarantine.ts';
import { isSharedWith, readShares, sealShare } from '../codec/shares.ts';
import { versionFor } from '../program/pinned-version.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { answerWait } from './answer-wait.ts';
import { callInstead, modelNamed } from './call-instead.ts';
import { checkExtension } from './check-extension.ts';
import { checkEventQuery, checkPage } from './check-query.ts';
import { checkRequest } from './check-request.ts';
import { checkResult } from './check-result.ts';
import { answerToParent, Children, childState } from './children.ts';
import { commitMigration } from './commit-migration.ts';
import { compactThread } from './compact.ts';
import { dedupIdInvalid } from './dedup-id.ts';
import { Deliveries } from './deliveries.ts';
import { readEvents } from './event-log.ts';
import { exportLog } from './export-log.ts';
import { fieldChanged } from './field-changed.ts';
import { freeSpace } from './free-space.ts';
import { imageAt } from './image-at.ts';
import { recordNodeFailure } from './ledger-writes-rare.ts';
import { extend, halt } from './limit-boundaries.ts';
import { LineEnds } from './line-ends.ts';
import { adoptLost } from './lost-attempts.ts';
import { migratedValues } from './migrate-state.ts';
import { waitCalls } from './node-waits.ts';
import { ownAndChildren, purgeThreads } from './purge.ts';
import { rareEngineErrors } from './rare-errors.ts';
import { readEffects } from './read-effects.ts';
import { countRecordedUse, standingUse, standingUses } from './recorded-use.ts';
import { RecordedWaits } from './recorded-waits.ts';
import { repairThread } from './repair.ts';
import { addReplayedInputs } from './replayed-inputs.ts';
import { resolveDoubt, undoingOf } from './resolution.ts';
import { giveRecorded } from './reuse.ts';
import { ThreadRunner } from './run.ts';
import { RunEnds, withoutRefused } from './run-ends.ts';
import { checkShare } from './share-invalid.ts';
import { StepPolicy } from './step-policy.ts';
import { refuseOtherItem } from './taken-id.ts';
import { edit, rollBack } from './time-travel.ts';
import { compare } from './time-travel-compare.ts';
import { diff, inspect } from './time-travel-diff.ts';
import { fork } from './time-travel-fork.ts';
import { compensateAll } from './time-travel-undo.ts';
import { unknownTool } from './unknown-tool.ts';
import { partInvalid, usageInvalid } from './usage-invalid.ts';

export const parts = {
  addReplayedInputs,
  adoptLost,
  answerToParent,
  answerWait,
  callInstead,
  Children,
  childState,
  commitMigration,
  compactThread,
  compare,
  dedupIdInvalid,
  compensateAll,
  countRecordedUse,
  standingUse,
  standingUses,
  Deliveries,
  diff,
  edit,
  exportLog,
  extend,
  fork,
  fieldChanged,
  freeSpace,
  giveRecorded,
  halt,
  imageAt,
  inspect,
  isSharedWith,
  LineEnds,
  migratedValues,
  modelNamed,
  partInvalid,
  ownAndChildren,
  purgeThreads,
  readEffects,
  readEvents,
  readMarks,
  readShares,
  recordNodeFailure,
  RecordedWaits,
  rareEngineErrors,
  rareProgramErrors,
  checkShare,
  checkEventQuery,
  checkPage,
  checkResult,
  checkRequest,
  checkExtension,
  refuseOtherItem,
  repairThread,
  resolveDoubt,
  rollBack,
  RunEnds,
  sealShare,
  StepPolicy,
  ThreadRunner,
  undoingOf,
  unknownTool,
  usageInvalid,
  versionFor,
  waitCalls,
  withoutRefused,
} as const;
