import { type ErrorData, errorToData, HoldfastError } from '../base/errors.ts';
import type { Control } from '../model/checkpoint.ts';
import type { ThreadEvent } from '../model/event.ts';
import { type FailureClass, failureClassOf } from '../program/failure-class.ts';
import type { PolicyRule } from '../program/policy.ts';

/** What a failure is to the rules. */
export interface Failure {
  readonly class: FailureClass;
  readonly node: string;
  readonly tool?: string;
  readonly code?: string;
  readonly error: ErrorData;
}

/** A rule that was taken for a failure. `rule` counts from 0. */
export interface Decision {
  readonly rule: number;
  readonly action: PolicyRule['action'];
  readonly failure: Failure;
}

export function failureOf(error: unknown, node: string): Failure {
  const code = error instanceof HoldfastError ? error.code : undefined;
  const isEffect = error instanceof HoldfastError && code === 'effect_failed';
  const tool = isEffect ? (error.details as { readonly name: string }).name : undefined;
  return {
    class: failureClassOf(error),
    node,
    ...(tool !== undefined && { tool }),
    ...(code !== undefined && { code }),
    error: errorToData(error),
  };
}

export function decisionKey(rule: number, node: string): string {
  return `${rule}/${node}`;
}

export function decisionsAfter({ decisions }: Control, { rule, failure }: Decision): Control['decisions'] {
  const key = decisionKey(rule, failure.node);
  return { ...decisions, [key]: (decisions[key] ?? 0) + 1 };
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
