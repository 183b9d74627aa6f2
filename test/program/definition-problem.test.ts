import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineAgent } from '../../src/program/agent.ts';
import { type Tools, tool } from '../../src/program/tool.ts';

function define(agent: object, node: object = {}, changed: object = {}) {
  const get = tool({
    ...{ name: 'get', description: 'Gets', input: z.object({}), effect: 'read', run: () => 'got' },
    ...changed,
  } as never);
  return defineAgent({
    ...{ name: 'a', version: 1, state: {}, tools: { get } as Tools, start: 'go' },
    nodes: { go: { run: (_state, { end }) => end(), ...node } },
    ...agent,
  });
}

test.each([
  [{ maxStep: 3 }, {}, {}, 'it has "maxStep"; there are name, version,'],
  [{ state: undefined }, {}, {}, 'it has no state: give an object'],
  [{ nodes: undefined }, {}, {}, 'it has no nodes: give an object'],
  [{}, { retry: { attempts: 0 } }, {}, 'the retry of node "go" has the attempts 0, not a whole number from 1'],
  [{}, { retry: { jitter: 2 } }, {}, 'the retry of node "go" has the jitter 2, not a number from 0 to 1'],
  [{}, { retry: { backoffMs: [] } }, {}, 'the retry of node "go" has the backoffMs [], not a list of numbers from 0'],
  [{}, { timeLimitMs: -1 }, {}, 'node "go" has the timeLimitMs -1, not a number above 0'],
  [{}, { critcal: true }, {}, 'node "go" has "critcal"; there are run, critical,'],
  [{}, {}, { approval: 'allways' }, 'tool "get" has the approval "allways", not "always", "never" or a function'],
  [{}, {}, { approvalExpiresMs: 0 }, 'tool "get" has the approvalExpiresMs 0, not a number above 0'],
  [{}, {}, { settleMs: -1 }, 'tool "get" has the settleMs -1, not a number from 0'],
  [{}, {}, { retries: 3 }, 'tool "get" has "retries"; there are'],
])('[B1a] a definition with %j, a node with %j, a tool with %j is refused', (agent, node, changed, problem) => {
  expect(() => define(agent, node, changed)).toThrow(problem);
});

test('[B1a] a definition without faults is taken', () => {
  expect(define({}).name).toBe('a');
});
