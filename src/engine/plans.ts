/** What the next checkpoint of a running thread says: position, control, tier. Pure. */

import { type Random, randomId } from '../base/random.ts';
import { type CheckpointPlan, noChange, type StateChange } from '../codec/commit-builder.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { CheckpointCause, Control, Position } from '../model/checkpoint.ts';
import type { RecordWrite } from '../model/commit.ts';
import { emptyControl, emptyPosition } from '../model/empty-control.ts';
import type { ThreadEvent } from '../model/event.ts';
import { checkpointIdFor } from '../model/ids.ts';
import { chooseKind, defaultTiers } from '../model/tiers.ts';
import type { EngineOptions } from './ports.ts';

export function controlOf(image: ThreadImage, maxSteps: number): Control {
  return image.state?.checkpoint.control ?? emptyControl(image.row, image.control.ledgerDigest, maxSteps);
}

export function positionOf(image: ThreadImage): Position {
  return image.state?.checkpoint.position ?? emptyPosition;
}

export interface NextCheckpoint {
  readonly cause: CheckpointCause;
  readonly position?: Position;
  readonly control: Partial<Control>;
  readonly change?: StateChange;
  readonly events: readonly ThreadEvent[];
  readonly records?: readonly RecordWrite[];
  readonly wakeUpAtMs?: number | null;
  /** Root, wait, critical node, end of a run: a full snapshot. */
  readonly heavy: boolean;
  readonly stepMs?: number;
  readonly stepTokens?: number;
}

export interface CommitPlanWorld {
  readonly options: EngineOptions;
  readonly random: Random;
  readonly nowMs: number;
  /** 1 for the first commit of a run that goes on after a restart. */
  readonly resumes: 0 | 1;
}

export function planFor(image: ThreadImage, next: NextCheckpoint, world: CommitPlanWorld): CheckpointPlan {
  const { options, random, nowMs, resumes } = world;
  const { agent } = options;
  const { state, row } = image;
  const before = controlOf(image, agent.maxSteps);
  const ledger = { ...before.ledger, count: row.ledger, digest: image.control.ledgerDigest };
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
    position: next.position ?? positionOf(image),
    control: { ...before, ledger, epoch: row.epoch, resumes: before.resumes + resumes, ...next.control },
    agent: agent.name,
    agentVersion: agent.version,
    stateVersion: agent.stateVersion,
    atMs: nowMs,
    span: spanOf(image, random),
    events: next.events,
    ...(next.records && { records: next.records }),
    wakeUpAtMs: next.wakeUpAtMs ?? null,
    // Answers are strict: a wait that is closed with this commit must not open again (PROTOCOL 8).
    durability: next.heavy || (next.records ?? []).length > 0 ? 'strict' : (options.durability ?? 'strict'),
  };
}

/** Log items go on under the name that the newest ones of the lineage have. */
function spanOf(image: ThreadImage, random: Random): string {
  for (const field of image.state?.fields.values() ?? []) {
    const span = 'spans' in field ? field.spans.at(-1)?.span : undefined;
    if (span !== undefined) return span;
  }
  return randomId(random, 6);
}
