import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { type AnyAgent, defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, only, plainState, Scene } from './support.ts';

const state = { said: log(z.string()) };

function mailer(name: string, sent: string[]) {
  return tool({
    name,
    description: 'Sends',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    run: ({ to }) => {
      sent.push(to);
      return `sent by ${name}`;
    },
  });
}

const first = (sent: string[]) =>
  defineAgent({
    name: 'mailing',
    version: 1,
    state,
    tools: { mail: mailer('mail', sent) },
    start: 'write',
    nodes: { write: async (_state, { call, end }) => end({ said: [await call('mail', { to: 'ann' })] }) },
  });

describe('a thread that meets new code', () => {
  test('[B15b, B15a] goes on under the new names of its node and its tool, with the approval it had', async () => {
    const sent: string[] = [];
    const scene = new Scene({ agent: first(sent) });
    await (await scene.begun()).run();
    const renamed = defineAgent({
      name: 'mailing',
      version: 2,
      state,
      tools: { post: mailer('post', sent) },
      aliases: { nodes: { write: 'compose' }, tools: { mail: 'post' } },
      start: 'compose',
      nodes: { compose: async (_state, { call, end }) => end({ said: [await call('post', { to: 'ann' })] }) },
    });
    const thread = await scene.open({ agent: renamed });
    await answer(thread, only(await thread.waits()), { decision: 'allow', args: { to: 'bob' } });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(sent).toEqual(['bob']);
    expect((await plainState(thread)).said).toEqual(['sent by post']);
    expect((await head(thread)).position.node).toBe('compose');
  });

  test('[B15b] is stopped, and nothing is sent, where its tool has another name and no alias', async () => {
    const sent: string[] = [];
    const scene = new Scene({ agent: first(sent) });
    await (await scene.begun()).run();
    const renamed = defineAgent({
      name: 'mailing',
      version: 2,
      state,
      tools: { post: mailer('post', sent) },
      start: 'write',
      nodes: { write: async (_state, { call, end }) => end({ said: [await call('post', { to: 'ann' })] }) },
    });
    const thread = await scene.open({ agent: renamed });
    await answer(thread, only(await thread.waits()), { decision: 'allow' });

    const end = await thread.run();
    expect(end).toMatchObject({ end: 'blocked', error: { code: 'replay_mismatch' } });
    expect(end).toMatchObject({ error: { message: expect.stringContaining('"mail"') } });
    expect(sent).toEqual([]);
  });

  test('[B15b] of which a node is gone without an alias is stopped with node and version, and goes on when it is back', async () => {
    const sent: string[] = [];
    const scene = new Scene({ agent: first(sent) });
    await (await scene.begun()).run();
    const without = defineAgent({
      name: 'mailing',
      version: 2,
      state,
      start: 'other',
      nodes: { other: (_state, { end }) => end() },
    });
    const waiting = await scene.open();
    await answer(waiting, only(await waiting.waits()), { decision: 'allow' });

    expect(await (await scene.open({ agent: without })).run()).toMatchObject({
      end: 'blocked',
      error: { code: 'node_unknown', details: { node: 'write', version: 2 } },
    });
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  });

  test('[B15b] a call whose recorded arguments no longer fit the tool fails with the tool, and is not made', async () => {
    const sent: string[] = [];
    const scene = new Scene({ agent: first(sent) });
    await (await scene.begun()).run();
    const stricter = defineAgent({
      name: 'mailing',
      version: 2,
      state,
      tools: { mail: { ...mailer('mail', sent), input: z.object({ to: z.email() }) as never } },
      start: 'write',
      nodes: { write: async (_state, { call, end }) => end({ said: [await call('mail', { to: 'ann' })] }) },
    });
    const thread = await scene.open({ agent: stricter });
    await answer(thread, only(await thread.waits()), { decision: 'allow' });

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'tool_input_invalid',
      details: { tool: 'mail' },
    });
    expect(sent).toEqual([]);
  });
});

describe('a pinned thread', () => {
  const version = (number: number, earlier?: readonly AnyAgent[]) =>
    defineAgent({
      name: 'pinned',
      version: number,
      state,
      ...(earlier && { earlier }),
      start: 'ask',
      nodes: {
        ask: async (_state, { ask, end }) => end({ said: [`v${number} ${await ask<string>('well?')}`] }),
      },
    });
  const v1 = version(1);
  const v2 = version(2, [v1]);

  test('[B15c] is run by the version that began it, new threads by the newest', async () => {
    const scene = new Scene({ agent: v1 });
    await (await scene.begun()).run();
    const thread = await scene.open({ agent: v2 });
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'hm' });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).said).toEqual(['v1 hm']);
    expect((await head(thread)).agentVersion).toBe(1);
    const other = new Scene({ agent: v2 });
    await (await other.begun()).run();
    expect((await head(await other.open())).agentVersion).toBe(2);
  });

  test('[B15c] whose version is not there any more is stopped, and says which are', async () => {
    const scene = new Scene({ agent: v1 });
    await (await scene.begun()).run();

    expect(await (await scene.open({ agent: version(3, [version(2)]) })).run()).toMatchObject({
      end: 'blocked',
      error: { code: 'version_missing', details: { version: 1, kept: '2, 3' } },
    });
  });

  test('[B15c] of an agent that keeps no earlier versions goes on with the newest', async () => {
    const scene = new Scene({ agent: v1 });
    await (await scene.begun()).run();
    const thread = await scene.open({ agent: version(2) });
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'hm' });
    await thread.run();

    expect((await plainState(thread)).said).toEqual(['v2 hm']);
  });
});

test.each([
  [{ aliases: { nodes: { old: 'nowhere' } } }, 'the alias of node "old" is "nowhere"; there are a'],
  [{ aliases: { nodes: { a: 'a' } } }, 'node "a" has an alias and is there, too'],
  [{ aliases: { tools: { old: 'hammer' } } }, 'the alias of tool "old" is "hammer"'],
  [{ earlier: [{ name: 'other', version: 0 }] }, '"other" is among its earlier versions, and has another name'],
  [{ earlier: [{ name: 'x', version: 1 }] }, 'version 1 is among the earlier ones of 1'],
])('[B15b] an agent with %j is refused where it is defined', (more, problem) => {
  const define = () =>
    defineAgent({
      name: 'x',
      version: 1,
      state,
      start: 'a',
      nodes: { a: (_s: unknown, { end }: { end: () => never }) => end() },
      ...more,
    } as never);
  expect(define).toThrow(problem);
});
