import { shown, textOf } from './text.ts';

export { textOf } from './text.ts';

/** Plain data that survives `postMessage`. */
export interface ErrorData {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly details: unknown;
  readonly stack: string | undefined;
  readonly cause: ErrorData | undefined;
  /** HTTP status, where the error carries one as `status` or `statusCode`. */
  readonly status?: number;
}

/**
 * The one class of errors that Holdfast throws. Tell them apart by `code`; `details` carries the values of that code as
 * plain data, and the message says what happened and what to do next.
 */
export class HoldfastError<Code extends string = string, Details = unknown> extends Error {
  override readonly name = 'HoldfastError';
  readonly code: Code;
  readonly details: Details;

  constructor(code: Code, message: string, details: Details, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/**
 * Makes the functions that throw and recognise one family of errors from its table of messages. `rare`: codes that belong to
 * it, too, and are made by a family of their own, whose texts are loaded when they are needed.
 */
export function errorFamily<Table extends object>(
  messages: {
    readonly [Code in keyof Table]: (details: Table[Code]) => string;
  },
  rare: Readonly<Record<string, true>> = {},
) {
  type AnyCode = keyof Table & string;
  type AnyError = { [Code in AnyCode]: HoldfastError<Code, Table[Code]> }[AnyCode];
  return {
    /** An error of this family, its message made from the details. */
    make<Code extends AnyCode>(code: Code, details: Table[Code], cause?: unknown): HoldfastError<Code, Table[Code]> {
      return new HoldfastError(code, messages[code](details), details, cause === undefined ? undefined : { cause });
    },
    /** Whether `error` belongs to this family (and has this code, if one is given). */
    is<Code extends AnyCode = AnyCode>(error: unknown, code?: Code): error is Extract<AnyError, { code: Code }> {
      if (!(error instanceof HoldfastError)) return false;
      if (code !== undefined) return error.code === code;
      return Object.hasOwn(messages, error.code) || Object.hasOwn(rare, error.code);
    },
  };
}

const deepestCause = 8;

/**
 * Any thrown value as plain data, causes included (at most eight deep). Whatever properties it has, what comes out has the shape
 * of `ErrorData`: it can be posted, stored, and read back.
 */
export function errorToData(error: unknown, depth = 0): ErrorData {
  try {
    return error instanceof Error ? dataOf(error, depth) : thrownData(error);
  } catch {
    return nameless('an error was thrown that cannot be read');
  }
}

function dataOf(error: Error, depth: number): ErrorData {
  const own = error instanceof HoldfastError ? error : undefined;
  const status = statusOf(error);
  const { stack, cause } = error;
  return {
    ...(status !== undefined && { status }),
    name: textOf(error.name),
    code: own && textOf(own.code),
    message: textOf(error.message),
    details: own && cloned(own.details),
    stack: typeof stack === 'string' ? stack : undefined,
    cause: cause === undefined || depth >= deepestCause ? undefined : errorToData(cause, depth + 1),
  };
}

/** Of what is no Error: its message and status, as far as it has some; else all of it as a text. */
function thrownData(thrown: unknown): ErrorData {
  if (typeof thrown !== 'object' || thrown === null) return nameless(textOf(thrown));
  const { message, statusText } = thrown as { readonly message?: unknown; readonly statusText?: unknown };
  const status = statusOf(thrown);
  const said = status === undefined ? shown(thrown) : `${status} ${statusText ?? ''}`.trim();
  return {
    ...nameless(typeof message === 'string' && message ? message : said),
    ...(status !== undefined && { status }),
  };
}

function nameless(message: string): ErrorData {
  return { name: 'Error', code: undefined, message, details: undefined, stack: undefined, cause: undefined };
}

/** Details that hold code cannot be posted: then the message has to do. */
function cloned(details: unknown): unknown {
  try {
    return structuredClone(details);
  } catch {
    return undefined;
  }
}

/** The error that `errorToData` described: same code, details, message and causes. What is no such data gives an error that says so. */
export function errorFromData(data: ErrorData, depth = 0): Error {
  if (!isErrorData(data, deepestCause + 1))
    return new Error('Something failed, and what is known of it cannot be read.');
  const hasCause = data.cause !== undefined && depth <= deepestCause;
  const options = hasCause ? { cause: errorFromData(data.cause, depth + 1) } : undefined;
  const error =
    data.code === undefined
      ? new Error(data.message, options)
      : new HoldfastError(data.code, data.message, data.details, options);
  if (data.code === undefined && data.name !== 'Error')
    Object.defineProperty(error, 'name', { value: data.name, configurable: true });
  if (data.stack !== undefined) error.stack = data.stack;
  if (data.status !== undefined) Object.assign(error, { status: data.status });
  return error;
}

/** Whether this has the shape of an error as data, causes included. */
export function isErrorData(data: unknown, depth = 0): data is ErrorData {
  if (typeof data !== 'object' || data === null) return false;
  const { name, code, message, stack, cause, status } = data as Record<string, unknown>;
  const isOwn =
    typeof name === 'string' &&
    typeof message === 'string' &&
    (code === undefined || typeof code === 'string') &&
    (stack === undefined || typeof stack === 'string') &&
    (status === undefined || typeof status === 'number');
  return isOwn && (cause === undefined || depth > deepestCause || isErrorData(cause, depth + 1));
}

function statusOf(error: object): number | undefined {
  const { status, statusCode } = error as { readonly status?: unknown; readonly statusCode?: unknown };
  return [status, statusCode].find((value): value is number => Number.isFinite(value));
}
