/** Whoever holds the port can send anything: what a call is given is looked at before it is made. */
import { protocolErrors } from '../protocol/errors.ts';
import type { HostMethods } from '../protocol/host-api.ts';

interface Shape {
  readonly wanted: string;
  readonly fits: (given: unknown) => boolean;
}

const text: Shape = { wanted: 'a text', fits: (given) => typeof given === 'string' };
const object: Shape = { wanted: 'an object', fits: isObject };
const textOrNone: Shape = { wanted: 'a text or null', fits: (given) => given === null || typeof given === 'string' };
const textOrNothing: Shape = {
  wanted: 'a text or nothing',
  fits: (given) => given === undefined || typeof given === 'string',
};
const textOrObject: Shape = {
  wanted: 'a text or an object',
  fits: (given) => typeof given === 'string' || isObject(given),
};
const anything: Shape = { wanted: 'anything', fits: () => true };
const page: Shape = {
  wanted: 'a page of checkpoints',
  fits: (given) => isObject(given) && ['undefined', 'string'].includes(typeof (given as { before?: unknown }).before),
};
const port: Shape = {
  wanted: 'a message port',
  fits: (given) => isObject(given) && typeof (given as { postMessage?: unknown }).postMessage === 'function',
};

const shapes: { readonly [K in keyof HostMethods]: readonly Shape[] } = {
  hello: [],
  threads: [],
  send: [text, object, text, textOrNothing],
  signal: [text, text, anything, text],
  extend: [text, object, text],
  cancel: [text, text],
  answer: [text, text, text, object],
  view: [text],
  state: [text, textOrNone],
  checkpoints: [text, page],
  effects: [text],
  inspect: [text, text],
  diff: [text, textOrObject, textOrObject],
  rollBack: [text, text, object],
  edit: [text, object, object],
  fork: [text, text, text, object],
  events: [text, object],
  exportLog: [text],
  watch: [text, port],
  resume: [text],
  close: [],
};

/** @throws `call_invalid` */
export function checkCall(method: keyof HostMethods, given: readonly unknown[]): void {
  shapes[method].forEach(({ wanted, fits }, index) => {
    if (!fits(given[index])) throw protocolErrors.make('call_invalid', { method, argument: index, wanted });
  });
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null;
}
