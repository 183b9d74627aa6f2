import { type ErrorData, errorFromData, errorToData, HoldfastError } from '../base/errors.ts';
import { type FailureClass, failureClassOf } from '../program/failure-class.ts';

/** What a failure is to the rules. */
export interface Failure {
  readonly class: FailureClass;
  readonly node: string;
  readonly tool?: string;
  readonly code?: string;
  readonly error: ErrorData;
}

/** Of what the records keep of the error, so that it is the same failure after a restart, whatever was thrown. */
export function failureOf(thrown: unknown, node: string): Failure {
  const data = errorToData(thrown);
  const error = errorFromData(data);
  const code = error instanceof HoldfastError ? error.code : undefined;
  const isEffect = error instanceof HoldfastError && code === 'effect_failed';
  const tool = isEffect ? (error.details as { readonly name: string }).name : undefined;
  return {
    class: failureClassOf(error),
    node,
    ...(tool !== undefined && { tool }),
    ...(code !== undefined && { code }),
    error: data,
  };
}
