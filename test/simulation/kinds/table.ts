/** Every kind of thing that a plan's nodes do. */
import type { OpKind, Site } from '../plan/plan.ts';
import type { Dice } from '../world/dice.ts';
import { type AllOp, all, type CallOp, call, type KeyedOp, keyed } from './calls.ts';
import { type ChildOp, type ChildrenOp, child, children } from './children.ts';
import { type FlakyOp, flaky, type HopelessOp, hopeless, type PoisonOp, poison } from './failures.ts';
import { type AskOp, ask } from './model.ts';
import { type AddOp, add, type BigOp, big, type RecallOp, recall } from './state.ts';
import {
  type EventOp,
  event,
  type FailedLinesOp,
  failedLines,
  type OnlineOp,
  online,
  type QuestionOp,
  question,
  type SleepOp,
  sleep,
} from './waits.ts';

export type Op =
  | CallOp
  | AllOp
  | KeyedOp
  | AskOp
  | AddOp
  | BigOp
  | RecallOp
  | FlakyOp
  | HopelessOp
  | PoisonOp
  | QuestionOp
  | EventOp
  | SleepOp
  | OnlineOp
  | FailedLinesOp
  | ChildOp
  | ChildrenOp;

type Kinds = { readonly [Kind in Op as Kind['op']]: OpKind<Kind> };

const kinds: Kinds = {
  call,
  all,
  keyed,
  ask,
  add,
  big,
  recall,
  flaky,
  hopeless,
  poison,
  question,
  event,
  sleep,
  online,
  failed_lines: failedLines,
  child,
  children,
};

export function runOp(op: Op, site: Site): Promise<void> {
  return (kinds[op.op] as OpKind<Op>).run(op, site);
}

const weighted = Object.values(kinds).flatMap((kind: OpKind<Op>) => Array.from({ length: kind.weight }, () => kind));

export function inventOp(dice: Dice): Op {
  const kind = weighted[dice.below(weighted.length)];
  if (kind === undefined) throw new Error('No kind has any weight.');
  return kind.invent(dice, inventOp as never);
}
