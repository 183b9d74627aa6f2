import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, secret, value } from '../../src/model/fields.ts';
import { agentsByName, defineAgent } from '../../src/program/agent.ts';
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

const schema = z.string();
const pass = () => ({});
const bare = { name: 'get', description: 'Gets', input: schema, effect: 'read' };

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
  [{ name: '' }, {}, {}, 'it has no name'],
  [{ name: undefined }, {}, {}, 'it has no name'],
  [{ version: undefined }, {}, {}, 'it has no version'],
  [{ name: 7 }, {}, {}, 'it has the name 7, not a text'],
  [{ version: 0 }, {}, {}, 'it has the version 0, not a whole number from 1'],
  [{ version: 1.5 }, {}, {}, 'it has the version 1.5, not a whole number from 1'],
  [{ version: '1' }, {}, {}, 'it has the version "1", not a whole number from 1'],
  [{ maxSteps: 0 }, {}, {}, 'it has the maxSteps 0, not a whole number from 1'],
  [{ stateVersion: 0 }, {}, {}, 'it has the stateVersion 0, not a whole number from 1'],
  [{ state: null }, {}, {}, 'it has no state: give an object'],
  [{ state: { a: { kind: 'lst' } } }, {}, {}, 'its field "a" has the kind "lst": declare it by value, log or secret'],
  [{ state: { a: null } }, {}, {}, 'its field "a" has the kind "undefined": declare it by value, log or secret'],
  [{ state: { a: { kind: 'log' } } }, {}, {}, 'its field "a" has no schema: give one of Zod'],
  [{ state: { '#a': log(schema) } }, {}, {}, 'its field "#a" begins with "#"'],
  [{ state: { '\ud800': log(schema) } }, {}, {}, 'has a name that cannot be kept: half of a surrogate pair'],
  [{ state: { '\ufeffa': log(schema) } }, {}, {}, 'has a name that cannot be kept: it begins with a byte order mark'],
  [{ tools: 'get' }, {}, {}, 'it has the tools "get", not an object'],
  [{ tools: { get: null } }, {}, {}, 'tool "get" is null, not what tool(…) gives'],
  [{ start: 7 }, {}, {}, 'it has the start 7, not a text'],
  [{ edges: 'go' }, {}, {}, 'it has the edges "go", not an object'],
  [{ edges: { go: 7 } }, {}, {}, 'the edge from "go" leads to "7", but its nodes are "go"'],
  [{ edges: { go: 'gone' } }, {}, {}, 'the edge from "go" leads to "gone", but its nodes are "go"'],
  [{ limits: 7 }, {}, {}, 'it has the limits 7, not an object'],
  [{ limits: { tokens: '7' } }, {}, {}, 'limits.tokens is "7", not a number above 0'],
  [{ limits: { tokens: 0 } }, {}, {}, 'limits.tokens is 0, not a number above 0'],
  [{ limits: { runMs: Infinity } }, {}, {}, 'limits.runMs is Infinity, not a number above 0'],
  [{ limits: { token: 7 } }, {}, {}, 'limits has "token"; there are runMs, tokens, cost'],
  [{ policy: { action: 'stop' } }, {}, {}, 'it has the policy {"action":"stop"}, not a list'],
  [{ policy: [null] }, {}, {}, 'rule 1 of its policy is null, not an object'],
  [{ policy: [{ action: 'stopp' }] }, {}, {}, 'rule 1 of its policy has the action "stopp"; there are retry,'],
  [
    { policy: [{ action: 'stop', clas: 'final' }] },
    {},
    {},
    'rule 1 of its policy has "clas"; with "stop" there are class,',
  ],
  [{ policy: [{ action: 'stop', class: 'odd' }] }, {}, {}, 'names the class "odd"; there are recoverable,'],
  [{ policy: [{ action: 'stop', node: 'gone' }] }, {}, {}, 'names the node "gone"; there are go'],
  [{ policy: [{ action: 'stop', tool: 'gone' }] }, {}, {}, 'names the tool "gone"; there are get'],
  [{ policy: [{ action: 'stop', code: 7 }] }, {}, {}, 'has the code 7, not a text'],
  [{ policy: [{ action: 'use_tool' }] }, {}, {}, 'names the tool to use "undefined"; there are get'],
  [{ policy: [{ action: 'use_model' }] }, {}, {}, 'has the use undefined, not the name of a model'],
  [{ policy: [{ action: 'go_back', hint: '' }] }, {}, {}, 'the place before "undefined"; there are model, tool, load'],
  [{ policy: [{ action: 'go_back', before: 'model', hint: {} }] }, {}, {}, 'has the hint [object Object], not a text'],
  [{ policy: [{ action: 'value' }] }, {}, {}, 'has no value: give one, null where there is none'],
  [{ policy: [{ action: 'value', value: () => 1 }] }, {}, {}, 'cannot be stored; something in it is of type function'],
  [
    { policy: [{ action: 'value', value: { a: [new URL('x:y')] } }] },
    {},
    {},
    'cannot be stored; something in it is an instance of URL',
  ],
  [{ policy: [{ action: 'retry', hint: 'x' }] }, {}, {}, 'has "hint"; with "retry" there are class,'],
  [{ policy: [{ action: 'ask', use: 'x' }] }, {}, {}, 'has "use"; with "ask" there are class,'],
  [{ policy: [{ action: 'go_back', before: 'tool' }] }, {}, {}, 'has the hint undefined, not a text'],
  [
    { policy: [{ action: 'default' }] },
    {},
    {},
    'gives an update that cannot be used: it is of type undefined; give an',
  ],
  [{ policy: [{ action: 'retry', times: 0 }] }, {}, {}, 'says times 0, not a whole number from 1'],
  [{ policy: [{ action: 'retry', times: 1.5 }] }, {}, {}, 'says times 1.5, not a whole number from 1'],
  [
    { policy: [{ action: 'default', node: 'go', update: {} }] },
    {},
    {},
    'for node "go", and no edge leaves it: add one',
  ],
  [{ policy: [{ action: 'skip', node: 'go' }] }, {}, {}, 'for node "go", and no edge leaves it: add one'],
  [
    { policy: [{ action: 'default', update: { a: 1 } }] },
    {},
    {},
    'gives an update that cannot be used: There is no field',
  ],
  [{ agents: {} }, {}, {}, 'it has the agents {}, not a list of agents or a function'],
  [{ agents: [undefined] }, {}, {}, 'it has the agents [null], not a list of agents or a function'],
  [{ aliases: 'x' }, {}, {}, 'its aliases is "x", not an object'],
  [{ aliases: { node: {} } }, {}, {}, 'its aliases has "node"; there are nodes, tools'],
  [{ aliases: { nodes: { old: 'gone' } } }, {}, {}, 'the alias of node "old" is "gone"; there are go'],
  [{ aliases: { tools: { old: 'gone' } } }, {}, {}, 'the alias of tool "old" is "gone"; there are get'],
  [{ aliases: { nodes: { go: 'go' } } }, {}, {}, 'node "go" has an alias and is there, too'],
  [{ earlier: {} }, {}, {}, 'it has the earlier {}, not a list'],
  [{ earlier: [null] }, {}, {}, 'null is among its earlier versions, and is no agent'],
  [{ earlier: [{ name: 'b', version: 1 }] }, {}, {}, '"b" is among its earlier versions, and has another name'],
  [{ earlier: [{ name: 'a', version: 1 }] }, {}, {}, 'version 1 is among the earlier ones of 1'],
  [{ migrations: { 2: {} } }, {}, {}, 'it has the migrations {"2":{}}, not an object with functions'],
  [{ migrations: { 2: pass } }, {}, {}, 'a migration to state version 2, and its stateVersion is 1'],
  [{ migrations: { 1: pass } }, {}, {}, 'a migration to state version 1, and its stateVersion is 1'],
  [{ migrations: { 2: pass, 4: pass }, stateVersion: 4 }, {}, {}, 'migrations to state versions 2, 4, and none to 3'],
  [{ rehydrate: {} }, {}, {}, 'it has the rehydrate {}, not a function'],
  [{ nodes: { go: null } }, {}, {}, 'node "go" is null, not an object'],
  [{ nodes: { go: {} } }, {}, {}, 'node "go" has no run: give a function'],
  [{ nodes: { 'go/on': pass }, start: 'go/on' }, {}, {}, 'its node "go/on" has a "/" in its name'],
  [{ start: undefined }, {}, {}, 'it starts at "undefined", but its nodes are "go"'],
  [{ start: 'gone' }, {}, {}, 'it starts at "gone", but its nodes are "go"'],
  [{ edges: { gone: 'go' } }, {}, {}, 'an edge leaves "gone", but its nodes are "go"'],
  [{ nodes: { go: { start: 'in', nodes: { on: pass } } } }, {}, {}, 'it starts at "go/in", but its nodes are "go/on"'],
  [
    { nodes: { go: { start: 'in', nodes: { in: pass }, edge: {} } } },
    {},
    {},
    'graph "go" has "edge"; there are start,',
  ],
  [{}, { run: 'go' }, {}, 'node "go" has the run "go", not a function'],
  [{}, { critical: 'yes' }, {}, 'node "go" has the critical "yes", not true or false'],
  [{}, { retry: 3 }, {}, 'node "go" has the retry 3, not an object'],
  [{}, { retry: { attempt: 3 } }, {}, 'the retry of node "go" has "attempt"; there are attempts, backoffMs, jitter'],
  [{}, { retry: { attempts: 1.5 } }, {}, 'has the attempts 1.5, not a whole number from 1'],
  [{}, { retry: { backoffMs: 5 } }, {}, 'has the backoffMs 5, not a list of numbers from 0'],
  [{}, { retry: { backoffMs: [-1] } }, {}, 'has the backoffMs [-1], not a list of numbers from 0'],
  [{}, { retry: { jitter: -1 } }, {}, 'has the jitter -1, not a number from 0 to 1'],
  [{}, { timeLimitMs: 0 }, {}, 'node "go" has the timeLimitMs 0, not a number above 0'],
  [{}, { timeLimitMs: '5' }, {}, 'node "go" has the timeLimitMs "5", not a number above 0'],
  [{}, { timeLimitMs: Infinity }, {}, 'node "go" has the timeLimitMs Infinity, not a number above 0'],
  [{}, { deadlineMs: 0 }, {}, 'node "go" deadlineMs is 0, not a number above 0'],
  [{}, {}, { name: 'take' }, 'tool "take" is listed under "get": use its name'],
  [{}, {}, { description: 7 }, 'tool "get" has the description 7, not a text'],
  [{}, {}, { description: undefined }, 'tool "get" has no description'],
  [{}, {}, { description: '' }, 'tool "get" has no description'],
  [{}, {}, { effect: 'twice' }, 'tool "get" has the effect class "twice": say read, idempotent or once'],
  [{}, {}, { effect: undefined }, 'tool "get" has the effect class "undefined": say read, idempotent or once'],
  [{}, {}, { run: 'get' }, 'tool "get" has the run "get", not a function'],
  [{}, {}, { reason: 'why' }, 'tool "get" has the reason "why", not a function'],
  [{}, {}, { verify: true }, 'tool "get" has the verify true, not a function'],
  [{}, {}, { compensate: true }, 'tool "get" has the compensate true, not a function'],
  [{}, {}, { network: 'no' }, 'tool "get" has the network "no", not true or false'],
  [{}, {}, { fenced: 1 }, 'tool "get" has the fenced 1, not true or false'],
  [{}, {}, { timeLimitMs: 0 }, 'tool "get" has the timeLimitMs 0, not a number above 0'],
  [{}, {}, { settleMs: '5' }, 'tool "get" has the settleMs "5", not a number from 0'],
  [{}, {}, { retry: null }, 'tool "get" has the retry null, not an object'],
  [{ tools: { get: bare } }, {}, {}, 'tool "get" has no run: give a function'],
  [{}, {}, { run: undefined }, 'tool "get" has no run: give a function'],
  [{ tools: { get: { ...bare, run: pass, input: undefined } } }, {}, {}, 'tool "get" has no input: give a schema'],
  [{}, {}, { input: {} }, 'tool "get" has no input: give a schema'],
])('[B1a] a definition with %j, a node with %j, a tool with %j is refused', (agent, node, changed, problem) => {
  expect(() => define(agent, node, changed)).toThrow(problem);
});

test('[B1a] a definition without faults is taken', () => {
  expect(define({}).name).toBe('a');
});

test('[B1a] an option that is given as undefined is one that is not given', () => {
  const none = undefined;
  const agent = { limits: { tokens: none }, policy: none, edges: none, aliases: none, rehydrate: none, maxSteps: none };
  const node = { critical: none, retry: { attempts: none }, timeLimitMs: none, deadlineMs: none };

  expect(define(agent, node, { approval: none, verify: none, retry: none })).toMatchObject({ name: 'a', maxSteps: 50 });
});

test('[B1a] a whole definition is taken: every option with a value that it may have', () => {
  const child = define({ name: 'child' });
  const agent = {
    ...{ version: 2, stateVersion: 3, maxSteps: 9, limits: { runMs: 1, tokens: 2, cost: 0.5 } },
    ...{ state: { a: log(schema), b: secret(schema), c: value(schema, '') }, rehydrate: pass },
    ...{ migrations: { 2: pass, 3: pass }, earlier: [define({})], agents: () => [child] },
    ...{ aliases: { nodes: { old: 'go' }, tools: { had: 'get' } }, edges: { go: () => null } },
    policy: [
      { action: 'go_back', before: 'load', hint: 'again', times: 2 },
      { action: 'use_model', use: 'other', code: 'effect_failed' },
      { action: 'default', node: 'go', update: { a: ['x'] } },
      ...[{ action: 'use_tool', use: 'get', tool: 'get' }, { action: 'skip', node: 'go' }, { action: 'ask' }],
    ],
  };
  const node = { critical: true, retry: { attempts: 1, backoffMs: [0], jitter: 1 }, timeLimitMs: 0.5, deadlineMs: 1 };
  const changed = {
    ...{ approval: () => true, reason: pass, approvalExpiresMs: 1, verify: pass, compensate: pass, network: false },
    ...{ settleMs: 0, fenced: true, timeLimitMs: 1, retry: { jitter: 0 } },
  };

  expect(define(agent, node, changed).version).toBe(2);
});

test('[B1a] two agents of one name that are used together are refused', () => {
  const agents = [define({ name: 'twin' }), define({ name: 'twin' })];

  expect(() => agentsByName(define({ agents }))).toThrow('another agent that it is used with has the same name');
});

test.each([undefined, null, 'an agent', 7])(
  '[B1a] %s in the place of a definition is refused by name, not by chance',
  (given) => {
    expect(() => defineAgent(given as never)).toThrow(expect.objectContaining({ code: 'agent_invalid' }));
  },
);
