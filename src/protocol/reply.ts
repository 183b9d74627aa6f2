import { type ErrorData, errorFromData, errorToData } from '../base/errors.ts';
import type { Reply } from './host-api.ts';

/** What `work` gives or throws, as data. */
export async function replyOf<Value>(work: () => Value | Promise<Value>): Promise<Reply<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: errorToData(error) };
  }
}

/** The value of a reply, or its error thrown whole: code, details and causes. */
export function valueFrom<Value>(reply: Reply<Value>): Value {
  const given = reply as Reply<Value> | null | undefined; // it comes from another realm
  if (given?.ok === true) return given.value;
  throw errorFromData(given?.error as ErrorData);
}
