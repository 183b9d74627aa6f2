/** The tools of every plan: one of each effect class, and of class `once` one for each way out of doubt. */
import type { Schema } from '../../../src/model/schema.ts';
import { type Tool, type ToolCall, type ToolDefinition, tool, type Verdict } from '../../../src/program/tool.ts';
import type { CallArgs } from './plan.ts';

export const toolNames = ['look', 'put', 'pay', 'ship', 'book', 'mail', 'wire'] as const satisfies readonly [
  string,
  ...string[],
];
export type ToolName = (typeof toolNames)[number];

/** The way from one process to the services outside. */
export interface Reach {
  call(tool: ToolName, args: CallArgs, call: ToolCall): Promise<string>;
  verify(tool: ToolName, args: CallArgs, call: ToolCall): Promise<Verdict<string>>;
  compensate(tool: ToolName, args: CallArgs, call: ToolCall): Promise<void>;
}

/** How long a call may still arrive after its last possible start. Longer than any request is on its way. */
const settleMs = 6_000;
const timeLimitMs = 2_000;
const approvalExpiresMs = 60_000;

/** Anything goes: what a plan gives is well-formed. */
export function anything<Value>(): Schema<unknown, Value> {
  return { '~standard': { version: 1, vendor: 'simulation', validate: (value) => ({ value: value as Value }) } };
}

export function toolsOn(reach: Reach): Readonly<Record<ToolName, Tool<ToolName, CallArgs, string>>> {
  const make = (
    name: ToolName,
    rest: Pick<ToolDefinition<ToolName, CallArgs, string>, 'effect' | 'verify' | 'compensate' | 'fenced'>,
  ) =>
    tool<ToolName, CallArgs, string>({
      name,
      description: `Does what ${name} does`,
      input: anything<CallArgs>(),
      approval: ({ ask }) => ask !== null,
      approvalExpiresMs,
      retry: { backoffMs: [100, 300], attempts: 3 },
      timeLimitMs,
      settleMs,
      run: (args, call) => reach.call(name, args, call),
      ...rest,
    });
  const verify = (name: ToolName) => (args: CallArgs, call: ToolCall) => reach.verify(name, args, call);
  return {
    look: make('look', { effect: 'read' }),
    put: make('put', { effect: 'idempotent' }),
    pay: make('pay', { effect: 'once', verify: verify('pay') }),
    ship: make('ship', { effect: 'once', verify: verify('ship') }),
    book: make('book', { effect: 'once', compensate: (args, call) => reach.compensate('book', args, call) }),
    mail: make('mail', { effect: 'once' }),
    wire: make('wire', { effect: 'once', verify: verify('wire'), fenced: true }),
  };
}
