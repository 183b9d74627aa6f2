import { shown } from '../base/text.ts';
import type { CheckpointKind } from './checkpoint.ts';

/** When a checkpoint is a full snapshot (A5). Defaults by measurement: docs/decisions/0004. */
export interface TierPolicy {
  /** A snapshot at least every so many checkpoints. */
  readonly everySteps: number;
  /** A snapshot when the last one is older than this. */
  readonly everyMs: number;
  /** A step that took this long is worth a snapshot of its own. */
  readonly longStepMs: number;
  /** So is one that spent this many model tokens. */
  readonly costlyStepTokens: number;
}

export const defaultTiers: TierPolicy = {
  everySteps: 32,
  everyMs: 300_000,
  longStepMs: 30_000,
  costlyStepTokens: 50_000,
};

/** What is wrong with these tiers; `undefined` if nothing is. What is never to happen has Infinity. */
export function tierProblem(tiers: object): string | undefined {
  if (typeof tiers !== 'object' || tiers === null) return `${shown(tiers)} is no object`;
  for (const [key, amount] of Object.entries(tiers as Readonly<Record<string, unknown>>)) {
    if (!Object.hasOwn(defaultTiers, key)) return `it has "${key}"; there are ${Object.keys(defaultTiers).join(', ')}`;
    if (typeof amount !== 'number' || !(amount >= 0)) return `${key} is ${shown(amount)}, not a number from 0`;
  }
  return undefined;
}

export interface TierQuestion {
  /** Root, wait, critical node: always a snapshot. */
  readonly heavy: boolean;
  /** Checkpoints since the last snapshot, this one included. */
  readonly stepsSince: number;
  readonly msSince: number;
  readonly stepMs: number;
  readonly stepTokens: number;
}

export function chooseKind(policy: TierPolicy, question: TierQuestion): CheckpointKind {
  const due =
    question.heavy ||
    question.stepsSince >= policy.everySteps ||
    question.msSince >= policy.everyMs ||
    question.stepMs >= policy.longStepMs ||
    question.stepTokens >= policy.costlyStepTokens;
  return due ? 'snapshot' : 'delta';
}
