/** What a node asks of a model, as JavaScript hands it in: a message without its text would be sent, and paid for. */

import { shown } from '../base/text.ts';
import { kindOf, refuse } from '../program/arguments.ts';
import type { ModelRequest } from '../program/model.ts';

type Given = Readonly<Record<string, unknown>>;

const call = 'model.answer(request)';
const known: readonly string[] = ['messages', 'tools', 'output'];
/** What a message of each role must have as a text. Others may be there: messages of a log have ids. */
const texts: Readonly<Record<string, readonly string[]>> = {
  system: ['text'],
  user: ['text'],
  assistant: ['text'],
  tool: ['callId', 'tool'],
};

/** @throws `argument_invalid` */
export function checkRequest({ messages, tools = [], output = { name: '' }, ...more }: ModelRequest): void {
  const strange = Object.keys(more)[0];
  if (strange !== undefined) refuse(call, `the request has "${strange}"; there are ${known.join(', ')}`);
  for (const [index, message] of messages.entries()) {
    const problem = messageProblem(message as unknown);
    if (problem !== undefined) refuse(call, `message ${index + 1} ${problem}`);
  }
  if (!Array.isArray(tools)) refuse(call, `tools is ${kindOf(tools)}, not a list`);
  for (const [index, tool] of tools.entries()) {
    if (!hasTexts(tool, ['name', 'description']))
      refuse(call, `tool ${index + 1} is ${kindOf(tool)}, not an object with name and description`);
  }
  if (!hasTexts(output, ['name'])) refuse(call, `output is ${kindOf(output)}, not an object with a name`);
}

function messageProblem(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null) return `is ${kindOf(message)}, not an object`;
  const { role, toolCalls = [] } = message as Given;
  const wanted = typeof role === 'string' && Object.hasOwn(texts, role) ? texts[role] : undefined;
  if (wanted === undefined) return `has the role ${shown(role)}; there are ${Object.keys(texts).join(', ')}`;
  const missing = wanted.find((key) => !hasTexts(message, [key]));
  if (missing !== undefined) return `has the ${missing} ${shown((message as Given)[missing])}, not a text`;
  const areCalls = Array.isArray(toolCalls) && toolCalls.every((each) => hasTexts(each, ['callId', 'tool']));
  return areCalls ? undefined : 'has a tool call without callId and tool';
}

function hasTexts(given: unknown, keys: readonly string[]): boolean {
  return typeof given === 'object' && given !== null && keys.every((key) => typeof (given as Given)[key] === 'string');
}
