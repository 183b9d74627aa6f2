/** What crosses the worker's boundary: messages to a real host, replies, and errors as data. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { errorFromData, errorToData, HoldfastError } from '../../src/base/errors.ts';
import { exposeApi } from '../../src/host/expose.ts';
import { lazyApi } from '../../src/host/lazy-api.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { type HostMethods, hostMethods } from '../../src/protocol/host-api.ts';
import { valueFrom } from '../../src/protocol/reply.ts';
import { Workers } from '../host/workers.ts';
import type { Dice } from './dice.ts';
import { hostileNames, hostileObject, hostileValue } from './hostile-values.ts';
import { told, type Verdict } from './verdict.ts';

type Listener = (event: { readonly data: unknown; readonly origin: string }) => void;

interface Answer {
  readonly id: unknown;
  readonly type: unknown;
  readonly value: { readonly ok: unknown; readonly error?: { readonly code?: unknown; readonly message?: unknown } };
}

const agent = defineAgent({
  name: 'fuzzed',
  version: 1,
  state: { notes: log(z.string()), count: value(z.number(), 0) },
  start: 'work',
  nodes: { work: (_, { end }) => end({ notes: ['done'], count: 1 }) },
});
/** A host is used so often before the next one takes its place. */
const callsPerHost = 50;

export class Protocol {
  #calls = 0;
  #deliver: Listener | undefined;
  readonly #answers: Answer[] = [];

  async tryMessage(dice: Dice): Promise<Verdict> {
    if (this.#calls % callsPerHost === 0) this.#start();
    this.#calls += 1;
    this.#answers.length = 0;
    const data = hostileCall(dice);
    try {
      this.#deliver?.({ data, origin: '' });
    } catch (error) {
      return { is: 'crash', message: `a message threw: ${told(error)}` };
    }
    const isCall = calledMethod(data) !== undefined;
    for (let turn = 0; turn < 200 && isCall && this.#answers.length === 0; turn += 1) await setImmediate();
    // Code that is loaded when it is first asked for takes real time.
    for (let ms = 0; ms < 5_000 && isCall && this.#answers.length === 0; ms += 1) await sleep(1);
    return judgeAnswers(this.#answers, isCall);
  }

  #start(): void {
    const api = lazyApi((): Promise<HostMethods> => new Workers(agent).start());
    const port = {
      addEventListener: (_: string, listener: Listener) => {
        this.#deliver = listener;
      },
      postMessage: (message: unknown) => this.#answers.push(structuredClone(message) as Answer),
      start: () => undefined,
    };
    exposeApi(api, port as unknown as MessagePort);
  }
}

function judgeAnswers(answers: readonly Answer[], isCall: boolean): Verdict {
  const [answer] = answers;
  if (!isCall)
    return answer === undefined ? { is: 'read' } : { is: 'accepted', message: 'what is no call was answered' };
  if (answer === undefined || answers.length !== 1)
    return { is: 'crash', message: `a call got ${answers.length} answers` };
  if (answer.value.ok === true) return { is: 'read' };
  const { code, message } = answer.value.error ?? {};
  return typeof code === 'string'
    ? { is: 'refused', code }
    : { is: 'crash', message: `a call was answered without a code: ${String(message)}` };
}

function calledMethod(data: unknown): string | undefined {
  const { type, path } = (data ?? {}) as { readonly type?: unknown; readonly path?: unknown };
  if (type !== 'APPLY' || !Array.isArray(path) || path.length !== 1) return undefined;
  return hostMethods.find((method) => method === path[0]);
}

function hostileCall(dice: Dice): unknown {
  if (dice.chance(0.1)) return hostileValue(dice);
  const method = dice.chance(0.9)
    ? dice.pick(hostMethods.filter((name) => name !== 'close'))
    : dice.pick([...hostileNames, 'hello']);
  const call: Record<string, unknown> = {
    id: 'call',
    type: 'APPLY',
    path: [method],
    argumentList: argumentsFor(dice).map((given) => ({ value: given })),
  };
  if (dice.chance(0.2)) call[dice.pick(Object.keys(call))] = hostileValue(dice);
  return call;
}

function argumentsFor(dice: Dice): readonly unknown[] {
  const thread = dice.chance(0.7) ? 'thread' : hostileValue(dice);
  return [
    thread,
    ...Array.from({ length: dice.below(4) }, () =>
      dice.chance(0.3) ? hostileObject(dice) : dice.chance(0.2) ? { count: 1 } : hostileValue(dice),
    ),
  ];
}

/** What a page makes of a reply. */
export function tryReply(dice: Dice): Verdict {
  const sound = errorToData(new HoldfastError('code', 'It failed.', { a: 1 }, { cause: new TypeError('why') }));
  const error: Record<string, unknown> = { ...sound };
  for (let count = dice.below(3); count > 0; count -= 1)
    error[dice.pick([...Object.keys(sound), 'status', ...hostileNames])] = hostileValue(dice);
  if (dice.chance(0.2)) error.cause = causes(dice.pick([9, 5_000, 50_000]), sound);
  const reply = dice.pick<() => unknown>([
    () => ({ ok: false, error }),
    () => ({ ok: false, error: hostileValue(dice) }),
    () => hostileValue(dice),
  ])();
  try {
    errorFromData((reply as { readonly error: never } | null)?.error as never);
    valueFrom(reply as never);
    return { is: 'read' };
  } catch (thrown) {
    return judgeThrown(thrown, error);
  }
}

function judgeThrown(thrown: unknown, error: Readonly<Record<string, unknown>>): Verdict {
  if (thrown instanceof HoldfastError)
    return { is: 'refused', code: typeof thrown.code === 'string' ? thrown.code : 'unknown' };
  const isMade =
    thrown instanceof Error &&
    (thrown.message === error.message || (thrown.name !== 'TypeError' && thrown.name !== 'RangeError'));
  return isMade ? { is: 'refused', code: 'foreign' } : { is: 'crash', message: told(thrown) };
}

function causes(depth: number, sound: object): object {
  let inner: object = sound;
  for (let level = 0; level < depth; level += 1) inner = { ...sound, cause: inner };
  return inner;
}
