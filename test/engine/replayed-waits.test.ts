/** A step that waited, and whose node was changed before it goes on (I6): what was asked must be asked again, in its place. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, only, plainState, Scene } from './support.ts';

const state = { said: log(z.string()) };
const tools = (made: string[]) => {
  const act = <Name extends string>(name: Name, approval: 'always' | 'never') =>
    tool({
      name,
      description: name,
      input: z.object({ n: z.number() }),
      effect: 'once',
      approval,
      run: ({ n }) => {
        made.push(`${name} ${n}`);
        return name;
      },
    });
  return { pay: act('pay', 'never'), book: act('book', 'always'), stay: act('stay', 'always') };
};
type Context = NodeContext<typeof state, ReturnType<typeof tools>, 'only'>;
type Work = (context: Context) => Promise<string>;

/** A thread that waits in the first version of its node. */
async function waiting(first: Work) {
  const made: string[] = [];
  const version = (number: number, work: Work) =>
    defineAgent({
      name: 'changing',
      version: number,
      state,
      tools: tools(made),
      start: 'only',
      nodes: { only: async (_state, context) => context.end({ said: [await work(context as never)] }) },
    });
  const scene = new Scene({ agent: version(1, first) });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  return { scene, made, thread, changed: (work: Work) => scene.open({ agent: version(2, work) }) };
}

const replied = { decision: 'reply', value: 'yes' } as const;
const pay: Work = ({ call }) => call('pay', { n: 1 });
const book: Work = ({ call }) => call('book', { n: 1 });

test.each<[what: string, first: Work, second: Work, message: RegExp]>([
  [
    'a question that is left out',
    ({ ask }) => ask('Well?'),
    async () => 'no',
    /called nothing where the question "Well\?"/,
  ],
  ['a call instead of a question', ({ ask }) => ask('Well?'), pay, /called "pay" .* where the question "Well\?"/],
  [
    'another question',
    ({ ask }) => ask('Well?'),
    ({ ask }) => ask('So?'),
    /called the question "So\?" .* where the question "Well\?"/,
  ],
  [
    'an event instead of a question',
    ({ ask }) => ask('Well?'),
    ({ waitFor }) => waitFor('mail'),
    /called a wait for event "mail" where the question/,
  ],
  [
    'a question behind one that is new',
    ({ ask }) => ask('Well?'),
    async ({ ask, sleep }) => {
      await sleep(1);
      return ask('Well?');
    },
    /called a sleep for 1 ms where the question "Well\?"/,
  ],
])(
  '[B3d, I6] %s stops the thread with both, before anything is done or asked',
  async (_what, first, second, message) => {
    const { scene, made, thread, changed } = await waiting(first);
    const wait = only(await thread.waits());
    await answer(thread, wait, replied);
    const before = await thread.row();

    const end = await (await changed(second)).run();
    expect(end).toMatchObject({
      end: 'blocked',
      error: { code: 'replay_mismatch', message: expect.stringMatching(message) },
    });
    expect(made).toEqual([]);
    expect((await thread.row())?.head).toBe(before?.head);

    const old = await scene.open();
    expect(await old.run()).toEqual({ end: 'done' });
    expect(await plainState(old)).toEqual({ said: ['yes'] });
  },
);

test.each<[what: string, second: Work, message: RegExp]>([
  ['is left out', async () => 'no', /called nothing where the approval of "book"/],
  ['is taken for another tool', ({ call }) => call('stay', { n: 1 }), /called "stay" .* where the approval of "book"/],
  ['is taken for a call that asks nobody', pay, /called "pay" .* where the approval of "book"/],
  ['is taken for other arguments', ({ call }) => call('book', { n: 2 }), /where the approval of "book"/],
  [
    'comes behind a question that is new',
    async ({ ask, call }) => {
      await ask('Well?');
      return call('book', { n: 1 });
    },
    /called the question "Well\?" .* where the approval of "book"/,
  ],
])(
  '[B3d, B9e] an approved call that %s stops the thread with both, and is made by the old code',
  async (_what, second, message) => {
    const { scene, made, thread, changed } = await waiting(book);
    await answer(thread, only(await thread.waits()), { decision: 'allow' });

    const end = await (await changed(second)).run();
    expect(end).toMatchObject({
      end: 'blocked',
      error: { code: 'replay_mismatch', message: expect.stringMatching(message) },
    });
    expect(made).toEqual([]);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(made).toEqual(['book 1']);
  },
);

test('[B3d, B15a] a question that takes the place of a recorded call is not asked, and the old version still goes on', async () => {
  const { scene, made, thread, changed } = await waiting(async (context) => {
    await pay(context);
    return context.ask('Well?');
  });
  await answer(thread, only(await thread.waits()), replied);

  const end = await (await changed(({ ask }) => ask('Well?'))).run();
  expect(end).toMatchObject({
    end: 'blocked',
    error: { message: expect.stringMatching(/called the question .* where "pay"/) },
  });

  const old = await scene.open();
  expect(await old.waits()).toEqual([]);
  expect(await old.run()).toEqual({ end: 'done' });
  expect(made).toEqual(['pay 1']);
});
