/** What the next checkpoint of a running thread says: position, control, tier. Pure. */

import { type Random, randomId } from '../base/random.ts';
import { type CheckpointPlan, noChange, type StateChange } from '../codec/commit-builder.ts';
import type { StateImage, ThreadImage } from '../codec/thread-image.ts';
import type { CheckpointCause, Control, Position } from '../model/checkpoint.ts';
import type { OtherThread, RecordWrite } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import { checkpointIdFor } from '../model/ids.ts';
import { inboxReplayAfter } from '../model/inbox.ts';
import type { Past } from '../model/past.ts';
import { atRunEnd, withoutChoices } from '../model/past-entries.ts';
import { chooseKind, defaultTiers } from '../model/tiers.ts';
import { controlOf, isTravelLost, positionOf } from './control-of.ts';
import type { EngineOptions } from './ports.ts';

export interface NextCheckpoint {
  readonly cause: CheckpointCause;
  readonly position?: Position;
  readonly control: Partial<Control>;
  readonly change?: StateChange;
  /** The checkpoint that this one is made from, where that is not the head. */
  readonly onto?: StateImage;
  /** Ledger entries whose results the step was given: they are not given again. */
  readonly reused?: ReadonlySet<number>;
  readonly events: readonly ThreadEvent[];
  readonly records?: readonly RecordWrite[];
  readonly wakeUpAtMs?: number | null;
  /** A run begins: its time counts from here. */
  readonly beginsRun?: boolean;
  /** Root, wait, critical node, end of a run: a full snapshot. */
  readonly heavy: boolean;
  readonly stepMs?: number;
  readonly stepTokens?: number;
  /** What the same group does to the thread that waits for this one. */
  readonly also?: OtherThread;
}

export interface CommitPlanWorld {
  readonly options: EngineOptions;
  readonly random: Random;
  readonly nowMs: number;
  /** The time by which deadlines and waits are judged. */
  readonly believedMs: number;
  /** Inbox items up to this order give nothing to do before more comes. */
  readonly inboxSeen: number;
  /** 1 for the first commit of a run that goes on after a restart. */
  readonly resumes: 0 | 1;
  /** Whether lines run side by side before it, or after it. */
  readonly isForked: boolean;
}

export function planFor(image: ThreadImage, next: NextCheckpoint, world: CommitPlanWorld): CheckpointPlan {
  const { options, random, nowMs, believedMs, resumes } = world;
  const { agent } = options;
  const { state, row } = image;
  const before = controlOf(image, agent.maxSteps);
  const ledger = { ...before.ledger, count: row.ledger, digest: image.control.ledgerDigest };
  const isPlaced = !isTravelLost(image);
  const replay = replayAfter(before, next, next.control.ledger ?? ledger, { isForked: world.isForked, isPlaced });
  return {
    id: checkpointIdFor(row.sequence + 1, random),
    kind: chooseKind(
      { ...defaultTiers, ...options.tiers },
      {
        heavy: next.heavy || state === null,
        stepsSince: (state?.sinceBase ?? 0) + 1,
        msSince: state === null ? 0 : nowMs - state.baseAtMs,
        stepMs: next.stepMs ?? 0,
        stepTokens: next.stepTokens ?? 0,
      },
    ),
    cause: next.cause,
    change: next.change ?? noChange,
    ...(next.onto && { onto: next.onto }),
    position: next.position ?? positionOf(image),
    control: {
      ...before,
      epoch: row.epoch,
      resumes: before.resumes + resumes,
      ...next.control,
      ...replay,
      ...(next.control.past === undefined && { past: pastAfter(before, next, replay.inboxReplay !== null) }),
      spent: { ...before.spent, ...next.control.spent, ms: next.beginsRun ? 0 : elapsedMs(before, believedMs) },
      seenAtMs: Math.max(before.seenAtMs, believedMs),
    },
    agent: agent.name,
    agentVersion: agent.version,
    stateVersion: agent.stateVersion,
    atMs: nowMs,
    span: next.change?.restart ? randomId(random, 6) : spanOf(next.onto ?? state, random),
    events: next.events,
    ...(next.records && { records: next.records }),
    ...(next.also && { also: next.also }),
    wakeUpAtMs: next.wakeUpAtMs ?? null,
    inboxSeen: world.inboxSeen,
    // Answers are strict: a wait that is closed with this commit must not open again (PROTOCOL 8).
    durability: next.heavy || (next.records ?? []).length > 0 ? 'strict' : (options.durability ?? 'strict'),
  };
}

/**
 * What of the inbox is still held back after a repair. Once nothing is, all steps that had ended before it have ended again, or
 * never will: what the ledger holds of others awaits none. While lines run side by side some may be further than they were, and
 * others not as far. Where calls are on record under ids that are not known any more, the end of the run tells.
 */
function replayAfter(
  before: Control,
  next: NextCheckpoint,
  ledger: Control['ledger'],
  { isForked, isPlaced }: { readonly isForked: boolean; readonly isPlaced: boolean },
) {
  const replay = before.inboxReplay;
  const after = { ...before, ...next.control };
  const isGivenUp = after.inboxReplay === null;
  const inboxReplay = isGivenUp ? null : inboxReplayAfter(replay, after, partOf(next.cause), !isForked);
  if (!isPlaced) {
    const isOver = hasEnded(after) && !inboxReplay?.groups.length;
    return isOver ? { inboxReplay: null, ledger: { ...ledger, replay: null } } : { inboxReplay, ledger };
  }
  const isOver = replay !== null && inboxReplay === null && (isGivenUp || (replay.isExact && !isForked));
  return { inboxReplay, ledger: isOver ? { ...ledger, replay: null } : ledger };
}

function partOf(cause: CheckpointCause): Parameters<typeof inboxReplayAfter>[2] {
  if (isStepEnd(cause)) return 'step_end';
  return cause === 'cancelled' || cause === 'rolled_back' ? 'stop' : 'other';
}

/** Whether such a checkpoint counts as the end of a step, to what is taken up behind it (`InboxReplay`). */
export function isStepEnd(cause: CheckpointCause): boolean {
  return cause === 'step' || cause === 'failed' || cause === 'out_of_budget';
}

/**
 * Choices go with the run that they were made in; those of going back to the end of a run, with the next one. While runs are gone
 * through again after a repair, they are for those behind, too.
 */
function pastAfter(before: Control, { reused, control, beginsRun }: NextCheckpoint, isReplaying: boolean): Past {
  const { past } = before;
  const isEnd = !isReplaying && (hasEnded(control) || (beginsRun === true && !hasEnded(before)));
  const left = reused === undefined ? past : withoutChoices(past, reused);
  return isEnd ? atRunEnd(left) : left;
}

/** Whether the run goes on no more: one that has failed by its limit of steps does, where somebody extends it. */
export function hasEnded({ status, failure }: Partial<Control>): boolean {
  return status === 'done' || status === 'cancelled' || (status === 'failed' && failure?.code !== 'step_limit');
}

/** How long the run has taken, what passed while nothing ran included. A clock that was put back takes nothing back. */
export function elapsedMs({ spent, status, seenAtMs }: Control, believedMs: number): number {
  const counts = status === 'running' || status === 'waiting';
  return spent.ms + (counts ? Math.max(0, believedMs - seenAtMs) : 0);
}

/** Log items go on under the name that the newest ones of the lineage have. */
function spanOf(state: StateImage | null, random: Random): string {
  for (const field of state?.fields.values() ?? []) {
    const span = 'spans' in field ? field.spans.at(-1)?.span : undefined;
    if (span !== undefined) return span;
  }
  return randomId(random, 6);
}
