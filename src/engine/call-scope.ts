/** Makes what a node calls: every function leads to an effect, a recorded value, or a result of the node. */

import { textOf } from '../base/errors.ts';
import { ownCopy } from '../base/own-copy.ts';
import { randomFraction } from '../base/random.ts';
import { codecErrors } from '../codec/errors.ts';
import type { Fields } from '../model/fields.ts';
import type { LineFailure } from '../model/lines.ts';
import { type Schema, validate } from '../model/schema.ts';
import type { AnyAgent } from '../program/agent.ts';
import { checkFunction, checkList, checkName } from '../program/arguments.ts';
import { programErrors } from '../program/errors.ts';
import type { CallOptions, CallScope, NodeContext, WaitCalls } from '../program/node-context.ts';
import { checkIsSchema, checkOptions } from '../program/option-checks.ts';
import { defaultRetry } from '../program/retry.ts';
import type { Tools, Verdict } from '../program/tool.ts';
import { checkedInput } from '../program/tool-input.ts';
import { orInstead } from './call-policy.ts';
import { perform } from './effect.ts';
import type { EffectRequest } from './effect-request.ts';
import { type AtPlace, inPlace, type ScopeParts } from './in-place.ts';
import { onDemand } from './load-on-demand.ts';
import { modelCalls } from './model-calls.ts';
import { Scope } from './place.ts';
import type { StepRun } from './step-run.ts';
import { waitWhileOffline } from './wait-for.ts';

const defaultTimeLimitMs = 60_000;
const defaultSettleMs = 60_000;

export interface LineParts {
  readonly node: string;
  readonly item: unknown;
  readonly failures: readonly LineFailure[];
}

export function nodeContext(
  parts: ScopeParts,
  { node, item, failures }: LineParts,
): NodeContext<Fields, Tools, string> {
  return {
    ...callScope(parts, new Scope()),
    abortSignal: parts.run.signal,
    goto: (node, update = {}) => ({ type: 'goto', node, update }),
    end: (update = {}) => ({ type: 'end', update }),
    update: (update = {}) => ({ type: 'update', update }),
    parallel: (nodes, options = {}) => {
      checkList('parallel(nodes)', 'what it was given', nodes);
      return { type: 'fork', branches: nodes.map((node) => ({ node })), update: options?.update ?? {}, options };
    },
    fanOut: (node, items, options = {}) => {
      checkList('fanOut(node, items)', 'what it was given as items', items);
      return { type: 'fork', branches: items.map((item) => ({ node, item })), update: options?.update ?? {}, options };
    },
    emit: (name, data = null) => {
      checkName('emit(name)', 'the name', name);
      refuseCode(name, data);
      if (!parts.run.isSuspended()) parts.run.emit({ type: 'custom', step: parts.run.scheduled.step, name, data });
    },
    failures,
    hint: parts.hint,
    item: (schema) => checkedItem(node, item, schema),
  };
}

/** Whether anybody watches must not decide whether the step fails. @throws `value_not_storable` */
function refuseCode(name: string, data: unknown): void {
  try {
    structuredClone(data);
  } catch (cause) {
    const found = 'something that cannot be sent to a page';
    throw codecErrors.make('value_not_storable', { path: `event "${name}"`, found, hint: 'give plain data' }, cause);
  }
}

function checkedItem<Item>(node: string, item: unknown, schema: Schema<unknown, Item>): Item {
  checkIsSchema('item(schema)', schema);
  const result = item === undefined ? { issues: 'there is none' } : validate(schema, item);
  if ('issues' in result) throw programErrors.make('item_invalid', { node, problem: result.issues });
  return result.value;
}

function callScope(parts: ScopeParts, scope: Scope): CallScope<Tools> {
  const { run, agent } = parts;
  const read = (make: () => number): number => {
    const place = scope.nextRead();
    const known = run.ledger.inputs.get(place);
    if (known !== undefined) return known;
    const value = make();
    run.freshInputs.push([place, value]);
    run.ledger.inputs.set(place, value);
    return value;
  };
  return {
    call: async (tool, given, options = {}) => {
      const input = ownCopy(given);
      const made = await inPlace(run, scope, tool, options, (place) => {
        checkOptions('call(tool, input)', options, ['key']);
        return orInstead(run, agent, place, async () => perform(run, await toolRequest(parts, tool, input, place)), {
          tool: async (name, other) => perform(run, await toolRequest(parts, name, input, other)),
        });
      });
      return made as never;
    },
    all: (items, work) =>
      inPlace(run, scope, 'all', undefined, async (place) => {
        checkList('all(items, work)', 'items', items);
        checkFunction('all(items, work)', 'work', work);
        return allOf(parts, place, items, work);
      }),
    model: modelCalls(parts, scope),
    ...waitCalls(run, agent, (name, options, work) => inPlace(run, scope, name, options, work)),
    now: () => read(() => run.ports.clock.nowMs()),
    random: () => read(() => randomFraction(run.ports.random)),
  };
}

/** Waits other than approvals. Each takes its place at once; what it does there is loaded when it is needed. */
function waitCalls(run: StepRun, agent: AnyAgent, at: AtPlace): WaitCalls {
  const late = <Result>(name: string, options: CallOptions | undefined, call: (calls: WaitCalls) => Promise<Result>) =>
    at(name, options, async (place) => {
      const { waitCalls } = await onDemand();
      return call(waitCalls(run, agent, (_name, _options, work) => work(place)));
    });
  return {
    ask: (question, given) => {
      const options = given?.show === undefined ? own(given) : { ...given, show: ownCopy(given.show) };
      return late('ask', options, (calls) => calls.ask(question, options));
    },
    waitFor: (event, given) => {
      const options = own(given);
      return late(`event ${textOf(event)}`, options, (calls) => calls.waitFor(event, options));
    },
    sleep: (durationMs, options) => late('sleep', options, (calls) => calls.sleep(durationMs, options)),
    online: (options = {}) =>
      at('online', options, async (place) => {
        checkOptions('online()', options, ['key']);
        await waitWhileOffline(run, place);
      }),
    child: (child, given, options) => {
      const input = ownCopy(given);
      return late(`child ${textOf(child?.name)}`, options, (calls) => calls.child(child, input, options));
    },
  };
}

/** Options as they are now. What is no object is refused as it is. */
function own<Options>(given: Options): Options {
  return typeof given === 'object' && given !== null ? { ...given } : given;
}

async function allOf<Item, Result>(
  parts: ScopeParts,
  place: string,
  items: readonly Item[],
  work: (item: Item, scope: CallScope<Tools>, index: number) => Promise<Result>,
): Promise<Result[]> {
  const { activity } = parts.run;
  let running = items.length;
  const ends = items.map(async (item, index) => {
    activity.resume();
    try {
      return await work(item, callScope(parts, new Scope(`${place}.${index}/`)), index);
    } finally {
      running -= 1;
      if (running > 0) activity.pause(); // the last one hands over to the line that began them
    }
  });
  if (items.length > 0) activity.pause();
  const settled = await Promise.allSettled(ends);
  return settled.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}

async function toolRequest(
  { agent, run }: ScopeParts,
  name: string,
  input: unknown,
  place: string,
): Promise<EffectRequest> {
  const tool = typeof name === 'string' && Object.hasOwn(agent.tools, name) ? agent.tools[name] : undefined;
  if (tool === undefined) throw await (await onDemand()).unknownTool(run, agent, name);
  const parse = (given: unknown) => checkedInput(tool, given);
  parse(input);
  const { approval = 'never' } = tool;
  return {
    kind: 'tool',
    name,
    effectClass: tool.effect,
    args: input, // as given: the schema is applied once, right before the call
    place,
    retry: { ...defaultRetry, ...tool.retry },
    timeLimitMs: tool.timeLimitMs ?? defaultTimeLimitMs,
    settleMs: tool.settleMs ?? defaultSettleMs,
    fenced: tool.fenced ?? false,
    run: async (given, call) => tool.run(parse(given), call),
    ...(tool.network && { mayStart: (attempt: number) => waitWhileOffline(run, `${place}/attempt.${attempt}`) }),
    ...(tool.verify && {
      verify: async (given, call) => (await tool.verify?.(parse(given), call)) as Verdict<unknown>,
    }),
    ...(tool.compensate && { compensate: async (given, call) => tool.compensate?.(parse(given), call) }),
    approval: {
      mayAsk: approval !== 'never',
      // what forgot to answer asks
      isNeeded: (given) => approval === 'always' || (approval !== 'never' && approval(parse(given)) !== false),
      reason: (given) => tool.reason?.(parse(given)) ?? tool.description,
      expiresInMs: tool.approvalExpiresMs ?? null,
      check: (given) => {
        parse(given);
        return given;
      },
    },
  };
}
