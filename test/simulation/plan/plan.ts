/** An agent as data: what its nodes do, in order, and where they lead. Interpreted by `interpret.ts`. */

import type { Schema } from '../../../src/model/schema.ts';
import type { RunLimits } from '../../../src/program/agent.ts';
import type { PolicyTable } from '../../../src/program/policy.ts';
import type { Op } from '../kinds/table.ts';
import type { Dice } from '../world/dice.ts';
import type { Exit } from './exits.ts';

export interface PlanNode {
  readonly name: string;
  readonly ops: readonly Op[];
  readonly exit: Exit;
  readonly critical?: boolean;
  /** It begins lines of a fork, each with an item. */
  readonly takesItem?: boolean;
  readonly deadlineMs?: number;
  /** Nodes of a graph inside of this one, each with a name that no other node of the plan has. Then `ops` are none. */
  readonly graph?: readonly PlanNode[];
}

/** The agent of a plan's children. */
export const childName = 'minor';

export interface Plan {
  /** The first one is where input starts. */
  readonly nodes: readonly PlanNode[];
  readonly maxSteps: number;
  /** Checkpoints from one snapshot to the next. */
  readonly snapshotEvery: number;
  readonly durability: 'strict' | 'relaxed';
  /** Leases in a row without a step before the thread fails. */
  readonly maxResumes: number;
  /** Each run is judged as a whole, not checkpoint by checkpoint: lines end in any order. */
  readonly isWhole?: boolean;
  readonly limits?: RunLimits;
  readonly policy?: PolicyTable;
  /** Its policy has calls made again, under new keys; never one of class once. */
  readonly redoes?: boolean;
  /** Code from version 2 on keeps another state: what older code left is migrated. */
  readonly migrates?: boolean;
  /** What its children are. */
  readonly child?: Plan;
  /** What a person says of a step that failed. */
  readonly policyAnswer?: 'retry' | 'skip' | 'stop';
}

/** One kind of thing that a node does. A new family is a file beside the others, and a line in `kinds/table.ts`. */
export interface OpKind<Kind extends { readonly op: string }> {
  /** How often it is invented, against the others. */
  readonly weight: number;
  invent(dice: Dice, inventOp: (dice: Dice) => Op): Kind;
  run(op: Kind, site: Site): Promise<void>;
}

export interface PlanState {
  readonly input: string;
  /** Visits of each node so far. */
  readonly rounds: Readonly<Record<string, number>>;
  readonly total: number;
  readonly last: string;
  readonly big: string;
  readonly notes: { readonly length: number; tail(count: number): Promise<readonly string[]> };
}

/** What the ops of one node change, put together. */
export interface Draft {
  readonly notes: string[];
  total: number;
  last: string | undefined;
  big: string | undefined;
}

/** What calls look like to an op: the engine's scope, or that of the reference. */
export interface PlanScope {
  call(tool: string, input: CallArgs, options?: { readonly key?: string }): Promise<unknown>;
  all<Item, Result>(
    items: readonly Item[],
    work: (item: Item, scope: PlanScope, index: number) => Promise<Result>,
  ): Promise<Result[]>;
  readonly model: { text(prompt: string): Promise<string> };
  /** `place` is for the reference, which looks up what was recorded there. */
  now(place: string): number;
  random(place: string): number;
  ask(
    question: string,
    options: { readonly show: QuestionArgs; readonly answer: Schema<unknown, string> },
  ): Promise<string>;
  waitFor(event: string, options: { readonly expiresMs?: number }, place: string): Promise<unknown>;
  sleep(durationMs: number, options: undefined, place: string): Promise<void>;
  online(): Promise<void>;
  child(agent: { readonly name: string }, input: { readonly input: string }): Promise<ChildEnd>;
}

/** What a node hears of a child. */
export interface ChildEnd {
  readonly status: string;
  readonly state: Readonly<Record<string, unknown>> | null;
}

/** What a question shows: where it comes from, and what the person says, answer by answer. */
export interface QuestionArgs {
  readonly place: string;
  readonly replies: readonly (string | null)[];
}

/** What a node meets that no record holds: it may differ on every run. */
export interface Mood {
  /** Whether this place breaks now: it does so the first `times` times. */
  breaks(place: string, times: number): boolean;
  /** Takes the whole process away. */
  kill(place: string): Promise<void>;
}

/** Where an op is run. */
export interface Site {
  /** The logical intention: input, node, visit, op. The same on every run. */
  readonly place: string;
  readonly scope: PlanScope;
  readonly state: PlanState;
  readonly draft: Draft;
  readonly mood: Mood;
  /** Lines that failed in the fork that led here. */
  readonly failures: readonly { readonly index: number; readonly node: string }[];
  run(op: Op, site: Site): Promise<void>;
}

/** How the receiver answers the first, second … call of one intention; after the last one `ok`. */
export type Behaviour =
  | 'ok'
  /** Nothing happened, and the receiver says so. */
  | 'refuse'
  | 'refuse_for_good'
  /** Nothing happened, and nobody knows. */
  | 'error'
  /** It happened, and the answer was lost. */
  | 'lost'
  /** It happens, and the answer comes after the time limit. */
  | 'slow';

export type PersonMood = 'allow' | 'deny' | 'edit' | 'for_thread' | 'ignore';

/** What every tool gets: a plan's own data, so that the receiver needs no list of its own. */
export interface CallArgs {
  readonly place: string;
  readonly text: string;
  readonly behaves: readonly Behaviour[];
  /** What `verify` finds at first: it breaks, or cannot tell. Then the truth. */
  readonly verifies: readonly ('error' | 'unknown')[];
  /** Who is asked first, and what for an answer it is; `null`: nobody. */
  readonly ask: PersonMood | null;
  /** Values of clock and chance that the node saw. */
  readonly reads: readonly number[];
  /** Characters that the result is long. */
  readonly size: number;
}
