import { raised } from '../base/counts.ts';
import type { Control } from '../model/checkpoint.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { PolicyRule } from '../program/policy.ts';
import type { Failure } from './failure.ts';

/** A rule that was taken for a failure. `rule` counts from 0. */
export interface Decision {
  readonly rule: number;
  readonly action: PolicyRule['action'];
  readonly failure: Failure;
}

export function decisionKey(rule: number, node: string): string {
  return `${rule}/${node}`;
}

export function decisionsAfter({ decisions }: Control, made: readonly Decision[]): Control['decisions'] {
  return made.reduce((counts, { rule, failure }) => raised(counts, decisionKey(rule, failure.node)), decisions);
}

export function decisionDetails({ rule, action, failure }: Decision): ThreadEvent['details'] {
  const { node, tool, code, error } = failure;
  return {
    rule: rule + 1,
    action,
    class: failure.class,
    node,
    tool: tool ?? null,
    code: code ?? null,
    message: error.message,
  };
}
