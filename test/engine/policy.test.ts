import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineAgent } from '../../src/program/agent.ts';
import { failureClassOf } from '../../src/program/failure-class.ts';
import type { PolicyRule, PolicyTable } from '../../src/program/policy.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { decisions, failing, offline, said, state, working } from './policy-agent.ts';
import { answer, Cable, head, only, Scene, ScriptedModel } from './support.ts';

describe('the class of a failure', () => {
  test.each([
    [new TypeError('Failed to fetch'), 'recoverable'],
    [new TypeError('Load failed'), 'recoverable'],
    [Object.assign(new Error('x'), { status: 429 }), 'recoverable'],
    [Object.assign(new Error('x'), { statusCode: 529 }), 'recoverable'],
    [Object.assign(new Error('x'), { status: 422 }), 'needs_repair'],
    [Object.assign(new Error('x'), { status: 404 }), 'final'],
    [new Error('outer', { cause: new TypeError('fetch failed') }), 'recoverable'],
    [new Refusal('full'), 'recoverable'],
    [new Refusal('never', { retry: false }), 'final'],
    [new Error('a fault'), 'final'],
    ['a text', 'final'],
  ] as const)('[B8a] of %s is %s', (error, expected) => {
    expect(
      failureClassOf(
        error instanceof Error && 'statusCode' in error ? Object.assign(error, { status: error.statusCode }) : error,
      ),
    ).toBe(expected);
  });
});

describe('a step that failed for good', () => {
  test('[B8b, B8e] is run again where the policy says so, as often as it says; each decision is in the event log', async () => {
    const policy: PolicyTable = [{ class: 'final', node: 'work', action: 'retry', times: 2 }];
    const scene = working(
      policy,
      failing(2, () => new Error('odd')),
    );

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['after 2', 'after']);
    expect(await decisions(scene)).toMatchObject(
      Array.from({ length: 2 }, () => ({
        rule: 1,
        action: 'retry',
        class: 'final',
        node: 'work',
        tool: null,
        code: null,
        message: 'odd',
      })),
    );
  });

  test('[B8b] fails once the rules are used up, with an alert; a restart does not count them anew', async () => {
    const scene = working(
      [{ action: 'retry', times: 2 }],
      failing(99, () => new Error('odd')),
    );
    const run = async () => (await scene.open()).run();
    await scene.begun();

    expect(await run()).toMatchObject({ end: 'failed' });
    expect((await head(await scene.open())).control).toMatchObject({ decisions: { '0/work': 2 }, status: 'failed' });
    expect(scene.frames('alert')).toMatchObject([{ reason: 'failed', error: { message: 'odd' } }]);
  });

  test('[B8b] takes the first rule that fits by class, node, tool and code', async () => {
    const never: PolicyRule[] = [
      { class: 'recoverable', action: 'skip' },
      { node: 'after', action: 'retry' },
      { code: 'tool_denied', action: 'skip' },
    ];
    const policy: PolicyTable = [
      ...never,
      { class: 'final', node: 'work', action: 'default', update: { said: ['instead'] } },
    ];
    const scene = working(
      policy,
      failing(1, () => new Error('odd')),
    );

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['instead', 'after']);
  });

  test('[B6b] is skipped where the policy says so: the run goes on along its edge', async () => {
    const scene = working(
      [{ action: 'skip' }],
      failing(1, () => new Error('odd')),
    );

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['after']);
  });

  test('[B6d] without a rule fails the run, with an alert', async () => {
    const scene = working(
      [],
      failing(1, () => new Error('odd')),
    );

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    expect(scene.frames('alert')).toHaveLength(1);
  });

  test('[B8c] goes back to before its model call, with a hint for node and model', async () => {
    const hints: (string | undefined)[] = [];
    const model = new ScriptedModel((prompt) => (prompt.includes('JSON only') ? '"good"' : 'prose'));
    const policy: PolicyTable = [
      { class: 'needs_repair', action: 'go_back', before: 'model', hint: 'Answer in JSON only.' },
    ];
    const scene = working(
      policy,
      ({ model: ask, hint }) => {
        hints.push(hint);
        return ask.object(z.string(), 'say it');
      },
      { model },
    );

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['good', 'after']);
    expect(hints).toEqual([undefined, 'Answer in JSON only.']);
    expect(model.calls.map(({ prompt }) => prompt)).toEqual(['say it', 'say it\nAnswer in JSON only.']);
    expect(await decisions(scene)).toMatchObject([
      { action: 'go_back', hint: 'Answer in JSON only.', class: 'needs_repair' },
    ]);
    expect((await head(await scene.open())).control.usage).toMatchObject({ outputTokens: 6 });
  });

  describe('whose model call was made by a step before it', () => {
    /** `draft` asks the model, `send` does what it says in between, `check` refuses all drafts but a good one. */
    function drafting(policy: PolicyTable, between: 'once' | 'read') {
      const model = new ScriptedModel((prompt) => (prompt.includes('Shorter') ? 'good' : 'bad'));
      let done = 0;
      const between_ = tool({
        name: 'between',
        description: 'Between',
        input: z.object({}),
        effect: between,
        run: () => {
          done += 1;
          return 'ok';
        },
      });
      const agent = defineAgent({
        name: 'drafting',
        version: 1,
        state,
        tools: { between: between_ },
        policy,
        start: 'draft',
        nodes: {
          draft: async (_state, { model: ask, goto }) => goto('send', { said: [await ask.text('draft')] }),
          send: async (_state, { call, goto }) => {
            await call('between', {});
            return goto('check', { said: ['sent'] });
          },
          check: {
            retry: { attempts: 1 },
            run: async ({ said: log_ }, { end }) => {
              if ((await log_.slice(0, 1))[0] !== 'good') throw new Error('too long');
              return end({ said: ['checked'] });
            },
          },
        },
      });
      return { scene: new Scene({ agent, model }), model, done: () => done };
    }
    const goBack: PolicyRule = { node: 'check', action: 'go_back', before: 'model', hint: 'Shorter!' };

    test('[B8c] goes back to the checkpoint before that step, and runs on from there', async () => {
      const { scene, model } = drafting([goBack], 'read');

      expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
      expect(await said(scene)).toEqual(['good', 'sent', 'checked']);
      expect(model.calls.map(({ prompt }) => prompt)).toEqual(['draft', 'draft\nShorter!']);
      const checkpoints = await (await scene.open()).checkpoints();
      const back = checkpoints.find(({ cause }) => cause === 'policy');
      expect(checkpoints.find(({ id }) => id === back?.parent)?.cause).toBe('input');
    });

    test('[B8c, B4b] does not where an effect of class once lies between: it is not made again', async () => {
      const { scene, done } = drafting([goBack], 'once');

      expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
      expect(done()).toBe(1);
    });
  });

  test('[B8c] does not go back across an effect of class once: the next rule is taken', async () => {
    let sent = 0;
    const send = tool({
      name: 'send',
      description: 'Sends',
      input: z.object({}),
      effect: 'once',
      run: () => {
        sent += 1;
        return 'sent';
      },
    });
    const policy: PolicyTable = [
      { action: 'go_back', before: 'model', hint: 'again' },
      { action: 'default', update: { said: ['gave up'] } },
    ];
    const scene = working(
      policy,
      async ({ call, model }) => {
        await call('send', {});
        return model.object(z.string(), 'say it');
      },
      { tools: { send }, model: new ScriptedModel(() => 'prose') },
    );

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(sent).toBe(1);
    expect(await said(scene)).toEqual(['gave up', 'after']);
  });

  test('[B8b] waits for the network while that is away, and then makes its calls again', async () => {
    const cable = new Cable();
    const get = tool({
      name: 'get',
      description: 'Gets',
      input: z.object({}),
      effect: 'read',
      retry: { attempts: 1 },
      run: () => {
        if (!cable.isPlugged) throw offline();
        return 'page';
      },
    });
    const agentScene = working(
      [{ class: 'recoverable', action: 'wait_network' }],
      ({ call }) => call('get', {}) as Promise<string>,
      {
        tools: { get },
      },
    );
    agentScene.world.network = cable;
    cable.isPlugged = false;
    const thread = await agentScene.begun();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).kind).toBe('network');
    cable.isPlugged = true;
    expect(await (await agentScene.open()).run()).toEqual({ end: 'done' });
    expect(await said(agentScene)).toEqual(['page', 'after']);
  });

  test('[B9g] a tool that needs the network waits for it and uses up no retry', async () => {
    let calls = 0;
    const cable = new Cable();
    const get = tool({
      name: 'get',
      description: 'Gets',
      input: z.object({}),
      effect: 'once',
      network: true,
      run: () => {
        calls += 1;
        return 'page';
      },
    });
    const scene = working([], ({ call }) => call('get', {}) as Promise<string>, { tools: { get } });
    scene.world.network = cable;
    cable.isPlugged = false;

    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    expect(calls).toBe(0);
    cable.isPlugged = true;
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(calls).toBe(1);
    expect((await (await scene.open()).effects()).map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'succeeded'],
    ]);
  });

  describe('about which a person is asked', () => {
    const asked = async (reply: string, work: () => string) => {
      const scene = working([{ action: 'ask' }], work);
      const thread = await scene.begun();
      expect(await thread.run()).toEqual({ end: 'waiting' });
      const later = await scene.open();
      const wait = only(await later.waits());
      expect(wait.reason).toBe('Step "work" failed: odd. What now: "retry", "skip" or "stop"?');
      await answer(later, wait, { decision: 'reply', value: reply });
      return { scene, end: await (await scene.open()).run() };
    };

    test('[B6c] is run again on retry', async () => {
      const { scene, end } = await asked(
        'retry',
        failing(1, () => new Error('odd')),
      );

      expect(end).toEqual({ end: 'done' });
      expect(await said(scene)).toEqual(['after 1', 'after']);
    });

    test('[B6c] is left out on skip', async () => {
      const { scene, end } = await asked(
        'skip',
        failing(9, () => new Error('odd')),
      );

      expect(end).toEqual({ end: 'done' });
      expect(await said(scene)).toEqual(['after']);
    });

    test('[B6c] fails on stop, with its own error', async () => {
      const { scene, end } = await asked(
        'stop',
        failing(9, () => new Error('odd')),
      );

      expect(end).toMatchObject({ end: 'failed' });
      expect((await head(await scene.open())).control.failure?.message).toBe('odd');
    });

    test('[B6c, B9f] is asked about until one of the three is said: anything else is refused, and the run stands', async () => {
      const scene = working(
        [{ action: 'ask' }],
        failing(1, () => new Error('odd')),
      );
      const thread = await scene.begun();
      await thread.run();
      const wait = only(await thread.waits());

      await expect(answer(thread, wait, { decision: 'reply', value: 'Retry' })).rejects.toMatchObject({
        code: 'answer_invalid',
        message: `Wait ${wait.id} cannot be answered with "reply \\"Retry\\"". Answer reply "retry", "skip", "stop".`,
      });
      await answer(thread, wait, { decision: 'reply', value: 'retry' });
      expect(await thread.run()).toEqual({ end: 'done' });
    });

    test('[B6c] asks again when it fails again', async () => {
      const { scene, end } = await asked(
        'retry',
        failing(9, () => new Error('odd')),
      );

      expect(end).toEqual({ end: 'waiting' });
      expect(await (await scene.open()).waits()).toHaveLength(1);
    });
  });
});

describe('a policy table', () => {
  test.each([
    [{ action: 'explode' }, 'has the action "explode"'],
    [{ node: 'nowhere', action: 'skip' }, 'names the node "nowhere"; there are work, after'],
    [{ tool: 'hammer', action: 'skip' }, 'names the tool "hammer"; there are '],
    [{ class: 'odd', action: 'skip' }, 'names the class "odd"; there are recoverable, needs_repair, final'],
    [{ action: 'use_tool', use: 'hammer' }, 'names the tool to use "hammer"'],
    [{ action: 'go_back', before: 'lunch', hint: '' }, 'names the place before "lunch"'],
    [{ action: 'retry', times: -1 }, 'says times -1, not a whole number from 1'],
    [{ action: 'retry', tries: 3 }, 'has "tries"'],
  ])('[B8d] with the rule %j is refused where the agent is defined', (rule, problem) => {
    expect(() => working([{ action: 'skip' }, rule as PolicyRule], () => '')).toThrow(
      `rule 2 of its policy ${problem}`,
    );
  });

  test('[B8d] that an agent brings takes the place of the default one', async () => {
    const cable = new Cable();
    const own = working([], () => Promise.reject(offline()));
    own.world.network = cable;
    cable.isPlugged = false;

    expect(await (await own.begun()).run()).toMatchObject({ end: 'failed' });
  });
});
