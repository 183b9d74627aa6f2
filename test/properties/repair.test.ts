/** Whatever came in and whenever: a thread that is made again from its inputs comes to where it was, and does nothing twice. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { log, value } from '../../src/model/fields.ts';
import { sequenceOf } from '../../src/model/ids.ts';
import { type InboxPolicy, inboxPolicies } from '../../src/model/inbox.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, never, plainState, Scene, ScriptedModel, withMethods } from '../engine/support.ts';

/** What each step of a run does. */
const kinds = ['pay', 'think', 'ask', 'break'] as const;
type Kind = (typeof kinds)[number];

function walker() {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ after: z.number() }),
    effect: 'once',
    run: ({ after }) => {
      paid.push(`after ${after}`);
      return `receipt ${paid.length}`;
    },
  });
  const agent = defineAgent({
    name: 'walker',
    version: 1,
    state: { todo: value(z.array(z.enum(kinds)), []), notes: log(z.string()) },
    tools: { pay },
    limits: { tokens: 20 },
    maxSteps: 4,
    start: 'go',
    nodes: {
      go: {
        retry: { attempts: 1 },
        run: async ({ todo: [kind, ...rest], notes }, { call, model, ask, goto, end }) => {
          if (kind === undefined) return end();
          const note = {
            pay: () => call('pay', { after: notes.length }),
            think: () => model.text('abcde'),
            ask: () => ask('Well?'),
            break: () => Promise.reject(new Error('It broke.')),
          };
          return goto('go', { todo: rest, notes: [`${kind}: ${String(await note[kind]())}`] });
        },
      },
    },
  });
  return { scene: new Scene({ agent, model: new ScriptedModel(() => 'yes') }), paid };
}

type Action =
  | { readonly does: 'send'; readonly todo: readonly Kind[]; readonly policy: InboxPolicy }
  | { readonly does: 'answer' | 'cancel' | 'extend' | 'run' }
  | Loss;

/**
 * The checkpoints from this one on are lost; of the first, what it changed as well. Then the thread runs in processes that end after
 * so many commits each, and lose the same again, before an input comes and a last one runs on.
 */
interface Loss {
  readonly does: 'lose';
  readonly from: number;
  readonly commits: readonly number[];
  readonly sends: InboxPolicy | null;
}

const loss: fc.Arbitrary<Loss> = fc.record({
  does: fc.constant('lose'),
  from: fc.nat(8),
  commits: fc.array(fc.nat(8), { maxLength: 2 }),
  sends: fc.constantFrom('queue', 'interrupt', 'roll_back', null), // none is refused while steps run again
});

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('send' as const),
      todo: fc.array(fc.constantFrom(...kinds), { maxLength: 4 }),
      policy: fc.constantFrom(...inboxPolicies),
    }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('answer', 'cancel', 'extend') }) },
  { weight: 5, arbitrary: fc.constant({ does: 'run' as const }) },
  { weight: 1, arbitrary: loss },
);

async function act(thread: EngineThread, given: Exclude<Action, Loss>): Promise<void> {
  switch (given.does) {
    case 'send':
      return thread.send({ todo: given.todo }, undefined, given.policy).catch(refusedAs('thread_busy'));
    case 'answer': {
      const [wait] = await thread.waits();
      return wait && answer(thread, wait, { decision: 'reply', value: 'fine' });
    }
    case 'cancel':
      return thread.cancel();
    case 'extend':
      return thread.extend({ tokens: 8, steps: 2 });
    case 'run':
      return void (await thread.run());
  }
}

/** Runs it in a process that ends after so many commits of its own. */
async function cutOff(scene: Scene, commits: number): Promise<void> {
  const store = scene.world.store();
  let left = commits;
  let isCut: () => void = () => undefined;
  const cut = new Promise<void>((resolve) => {
    isCut = resolve;
  });
  const dying = withMethods(store, {
    commit: (groups) => {
      if (left === 0) isCut();
      left -= 1;
      return left < 0 ? never() : store.commit(groups);
    },
  });
  scene.clock.advance(1_000);
  await Promise.race([(await scene.open({ store: dying })).run(), cut]);
}

async function lose(scene: Scene, { from, commits }: Loss): Promise<void> {
  const newest = Math.max(...(await scene.stored('events')).map(({ key }) => sequenceOf(key) ?? 0));
  for (const [index, count] of [...commits, null].entries()) {
    scene.lose('checkpoints', (key) => (sequenceOf(key.slice(0, 23)) ?? 0) >= from);
    scene.lose('events', (key) => from === 0 && sequenceOf(key) === 0);
    // Nothing tells of the first repair but the step that ran again behind it.
    const isTold = from > 1 || index === 0 || (commits[0] ?? 0) < 3;
    if (!isTold) scene.lose('events', (key) => sequenceOf(key) === newest + 1);
    if (count !== null) await cutOff(scene, count);
  }
  scene.clock.advance(1_000);
}

function refusedAs(code: string) {
  return (error: unknown) => expect(error).toMatchObject({ code });
}

/** How the thread stands after all that, and what it paid. */
async function livedThrough(all: readonly Action[], mayLose: boolean) {
  const { scene, paid } = walker();
  let thread = await scene.begun({ todo: ['think', 'ask', 'pay'] });
  await thread.run();
  for (const given of all) {
    if (given.does !== 'lose') {
      await act(thread, given);
      continue;
    }
    await thread.run(); // what comes later comes later in both worlds
    if (mayLose) await lose(scene, given);
    thread = await scene.open();
    if (given.sends !== null) await act(thread, { does: 'send', todo: ['think', 'pay'], policy: given.sends });
    await thread.run();
  }
  await thread.run();
  const status = (await head(thread)).control.status;
  return { state: await plainState(thread), status, waits: (await thread.waits()).length, paid };
}

test('[A11d, B11a] whatever came in and whenever, a thread that loses its state comes to where it was, and repeats no call', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 10 }), loss, async (some, last) => {
      const all = [...some, last];
      expect(await livedThrough(all, true)).toEqual(await livedThrough(all, false));
    }),
    {
      numRuns: 100,
      examples: [
        [
          [{ does: 'cancel' }, { does: 'send', todo: ['ask'], policy: 'queue' }],
          { does: 'lose', from: 0, commits: [], sends: 'queue' },
        ],
      ],
    },
  );
}, 120_000);
