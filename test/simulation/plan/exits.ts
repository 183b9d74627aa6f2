/** Where a node leads, by its plan. */
import type { Dice } from '../world/dice.ts';
import type { Draft, PlanState } from './plan.ts';

export type Exit =
  | { readonly to: 'end' }
  | { readonly to: 'node'; readonly node: string }
  /** `body` until it was visited so often since, then `after`. */
  | { readonly to: 'loop'; readonly times: number; readonly body: string; readonly after: string | null }
  /** As the model said last. */
  | { readonly to: 'branch'; readonly even: string | null; readonly odd: string | null }
  /** Goes on in lines side by side. */
  | ForkExit
  /** As the edge of the node says, from the state after it. */
  | { readonly to: 'edge'; readonly even: string | null; readonly odd: string | null };

export interface ForkExit {
  readonly to: 'fork';
  readonly lines: readonly PlanLine[];
  readonly join: string | null;
  readonly failures: 'stop' | 'collect';
  readonly limit?: number;
}

/** With an item: all lines of the fork begin at one node. */
export interface PlanLine {
  readonly node: string;
  readonly item?: string;
}

export type Leave =
  | { readonly type: 'fork'; readonly exit: ForkExit }
  | { readonly type: 'goto'; readonly node: string }
  | { readonly type: 'end' }
  | { readonly type: 'update' };

export function leave(exit: Exit, visit: number, state: PlanState, draft: Draft): Leave {
  switch (exit.to) {
    case 'end':
      return { type: 'end' };
    case 'node':
      return { type: 'goto', node: exit.node };
    case 'loop':
      return target(visit % exit.times === exit.times - 1 ? exit.after : exit.body);
    case 'branch':
      return target(isEven(draft.last ?? state.last) ? exit.even : exit.odd);
    case 'fork':
      return { type: 'fork', exit };
    case 'edge':
      return { type: 'update' };
  }
}

/** What the agent's edge says of the state that the node leaves. */
export function alongEdge(exit: Exit, total: number): string | null {
  if (exit.to !== 'edge') throw new Error(`A node that leads to "${exit.to}" has no edge.`);
  return total % 2 === 0 ? exit.even : exit.odd;
}

/** An exit of node `index` of `count`. Only loops lead back, and only so often that every run ends. */
export function inventExit(dice: Dice, index: number, count: number, mayLoop: boolean): Exit {
  const later = () => (index + 1 >= count ? null : `n${dice.between(index + 1, count - 1)}`);
  const after = index + 1 < count ? `n${index + 1}` : null;
  if (mayLoop) return { to: 'loop', times: dice.pick([2, 2, 3]), body: `n${dice.between(0, index)}`, after };
  const choice = dice.below(10);
  if (choice < 2) return { to: 'branch', even: after, odd: later() };
  if (choice < 4) return { to: 'edge', even: later(), odd: after };
  return after === null ? { to: 'end' } : { to: 'node', node: after };
}

function target(node: string | null): Leave {
  return node === null ? { type: 'end' } : { type: 'goto', node };
}

function isEven(text: string): boolean {
  return text.length === 0 || text.charCodeAt(text.length - 1) % 2 === 0;
}
