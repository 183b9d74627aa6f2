import { textOf } from '../base/errors.ts';

/**
 * The part of Standard Schema v1 (https://standardschema.dev) that is used here: any validator with this shape works,
 * Zod 4 among them.
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

const later = 'is asynchronous; use one that answers at once';

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * The validated value, or the issues as one line of text. Schemas that answer later, or throw, are refused; `isFault`: they are
 * at fault then, and no other value helps.
 */
export function validate<Output>(
  schema: Schema<unknown, Output>,
  value: unknown,
): { value: Output } | { issues: string; isFault?: true } {
  let result: ReturnType<Schema<unknown, Output>['~standard']['validate']>;
  try {
    result = schema['~standard'].validate(value);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      (schema as { parse?(value: unknown): unknown }).parse?.(value); // Zod answers later where a part of it threw
      throw later;
    }
  } catch (cause) {
    const isLater = cause === later || /synchronous parse/.test(textOf(cause));
    return { issues: `its schema ${isLater ? later : `threw ${textOf(cause)}`}`, isFault: true };
  }
  if (result.issues === undefined) return { value: result.value };
  return { issues: result.issues.map(issueText).join('; ') };
}

function issueText({ message, path }: SchemaIssue): string {
  const place = path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return place ? `${place}: ${message}` : message;
}
