import type { EffectKey, StepId, WaitId } from './ids.ts';

/**
 * `approval`: may this call be made? `in_doubt`: what became of this call? `question`: what does a person say? `event`: has it
 * arrived from outside? `timer`: is it time? `network`: can it be reached? `child`: has that thread ended?
 */
export type WaitKind = 'approval' | 'in_doubt' | 'question' | 'event' | 'timer' | 'network' | 'child';

/** What is asked, as it was shown. */
export interface Wait<Args = unknown> {
  readonly id: WaitId;
  readonly kind: WaitKind;
  readonly step: StepId;
  /** What it is about: the tool that is to be called, the name of the event, the agent of the child; else empty. */
  readonly tool: string;
  readonly effectKey: EffectKey;
  readonly args: Args;
  readonly reason: string;
  /** Digest over tool and arguments: an answer names what it was given for. */
  readonly digest: string;
  readonly openedAtMs: number;
  readonly expiresAtMs: number | null;
}

/**
 * The one answer to a wait. `allow` (with `args`: the edited arguments; `forThread`: later calls of this tool as well), `deny`,
 * `expired` and `cancelled` settle an approval; `done` (with its result), `not_done` and `give_up` an effect in doubt; `reply`
 * or `deny` a question. `arrived` names the inbox item that is the event; `elapsed`, `online` and `ended` are the engine's.
 */
export type WaitAnswer<Value = unknown> =
  | { readonly decision: 'allow'; readonly args?: Value; readonly forThread?: boolean }
  | { readonly decision: 'deny'; readonly reason?: string }
  | { readonly decision: 'expired' }
  | { readonly decision: 'cancelled' }
  | { readonly decision: 'done'; readonly result?: Value }
  | { readonly decision: 'not_done' }
  | { readonly decision: 'give_up' }
  | { readonly decision: 'reply'; readonly value?: Value }
  | { readonly decision: 'arrived'; readonly value?: Value; readonly order: number }
  | { readonly decision: 'elapsed' }
  | { readonly decision: 'online' }
  | { readonly decision: 'ended'; readonly value?: Value };

export type Decision = WaitAnswer['decision'];

/** What a person can answer; the others are the engine's. */
export const decisionsFor: { readonly [K in WaitKind]: readonly Decision[] } = {
  approval: ['allow', 'deny'],
  in_doubt: ['done', 'not_done', 'give_up'],
  question: ['reply', 'deny'],
  event: [],
  timer: [],
  network: [],
  child: [],
};
