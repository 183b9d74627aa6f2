/** Going back and forking, cut off at each of their operations, on either side, and asked for again. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { randomFraction } from '../../src/base/random.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { log, value } from '../../src/model/fields.ts';
import type { ThreadId } from '../../src/model/ids.ts';
import type { EffectChoice } from '../../src/model/past.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, tool } from '../../src/program/tool.ts';
import { type Cut, CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { nth, plainState, ScriptedModel } from './support.ts';
import { beforeNode, choices } from './travel-agent.ts';

/** The thread is done; then, in as many lives as it takes, it is taken elsewhere and run. */
class CutTravel {
  readonly world = new TestWorld();
  /** Mails by attempt: an attempt that arrives twice counts twice. */
  readonly mails: string[] = [];
  /** Keys that were called back, once for each time. */
  readonly calledBack: string[] = [];
  readonly posts = new Map<string, number>();
  readonly model: ScriptedModel;
  #life = new Life();
  #isAcknowledged = false;

  constructor() {
    this.model = new ScriptedModel((prompt) => this.#life.pass(() => `thought of ${prompt}`));
  }

  async prepare(): Promise<void> {
    const thread = await this.thread('source');
    await thread.send({ notes: Array.from({ length: 150 }, (_, n) => `note ${n}`), big: 'b'.repeat(9_000) });
    expect(await thread.run()).toEqual({ end: 'done' });
  }

  /** `travel` gives the thread that is run after it. */
  async live(travel: (source: EngineThread) => Promise<string>, cut?: Cut) {
    const life = new Life(cut);
    this.#life = life;
    this.world.clock.advance(3_000);
    const work = async () => {
      const source = await this.thread('source', life);
      const id = this.#isAcknowledged ? this.#last : await travel(source);
      this.#last = id;
      this.#isAcknowledged = true;
      return (await this.thread(id, life)).run();
    };
    const end = await Promise.race([work(), life.death]);
    this.#life = new Life();
    return { end, operations: life.operations };
  }
  #last = '';

  async thread(id: string, life = new Life()): Promise<EngineThread> {
    return (await this.#engine(life)).thread(id);
  }

  async visible(): Promise<readonly string[]> {
    return (await (await this.#engine(new Life())).threads()).map(({ id }) => String(id)).sort();
  }

  #arrive(mail: string): string {
    this.mails.push(mail);
    return 'sent';
  }

  #put(key: string, n: number): string {
    this.posts.set(key, n);
    return `posted ${n}`;
  }

  /** How many data keys there are under this thread's hash. */
  async keysOf(id: string): Promise<number> {
    const { keyRing, store } = await this.world.ports();
    return (await store.range('wraps', await keyRing.threadHash('default', id as ThreadId), {})).length;
  }

  #engine(life: Life) {
    const store = new CuttingStore(this.world.store(), life);
    return this.world.engine({ agent: this.#agent(), model: this.model }, store);
  }

  #agent() {
    const reach = <Result>(carryOut: () => Result) => this.#life.pass(carryOut);
    const mail = tool({
      name: 'mail',
      description: 'Sends a mail',
      input: z.object({ text: z.string() }),
      effect: 'once',
      run: (_mail, { effectKey, attempt }) => reach(() => this.#arrive(`${effectKey} ${attempt}`)),
      verify: (_mail, { effectKey, attempt }) =>
        reach(() => (this.mails.includes(`${effectKey} ${attempt}`) ? done('sent') : notDone({ closed: true }))),
      compensate: async (_mail, { effectKey }) => {
        await reach(() => this.calledBack.push(effectKey));
      },
    });
    const post = tool({
      name: 'post',
      description: 'Posts',
      input: z.object({ n: z.number() }),
      effect: 'idempotent',
      run: ({ n }, { effectKey }) => reach(() => this.#put(effectKey, n)),
    });
    return defineAgent({
      name: 'cut',
      version: 1,
      state: { round: value(z.number(), 0), big: value(z.string(), ''), notes: log(z.string()) },
      tools: { mail, post },
      start: 'think',
      nodes: {
        think: async ({ round }, { model, goto }) => goto('mail', { notes: [await model.text(`round ${round}`)] }),
        mail: async ({ notes }, { call, goto }) => {
          const [text = ''] = await notes.tail(1);
          const receipt = await call('mail', { text });
          return goto('post', { notes: [receipt] });
        },
        post: async ({ round }, { call, end }) => end({ notes: [await call('post', { n: round })], round: round + 1 }),
      },
    });
  }
}

interface Journey {
  readonly travel: (source: EngineThread) => Promise<string>;
  /** What must hold after each death. */
  readonly between?: (world: CutTravel) => Promise<void>;
  readonly end: (world: CutTravel) => Promise<unknown>;
}

async function given(): Promise<CutTravel> {
  const world = new CutTravel();
  await world.prepare();
  return world;
}

async function cutEverywhere({ travel, between, end }: Journey, side: Cut['side']): Promise<number> {
  const whole = await given();
  const { operations } = await whole.live(travel);
  const expected = await end(whole);
  for (let at = 1; at <= operations; at += 1) {
    const world = await given();
    expect((await world.live(travel, { at, side })).end).toBe('died');
    await between?.(world);
    expect([at, (await world.live(travel)).end]).toEqual([at, { end: 'done' }]);
    expect([at, await end(world)]).toEqual([at, expected]);
  }
  return operations;
}

const choose = (name: string): EffectChoice => (name === 'mail' ? 'compensate' : name === 'post' ? 'redo' : 'reuse');

async function effectsFor(source: EngineThread, pick: (name: string) => EffectChoice) {
  const calls = (await source.effects()).filter(({ kind }) => kind === 'tool' || kind === 'model').slice(0, 3);
  return Object.fromEntries(calls.map(({ key, name }) => [key, pick(name)]));
}

const rollingBack: Journey = {
  travel: async (source) => {
    await source.rollBack(await beforeNode(source, 'think'), { effects: await effectsFor(source, choose) });
    return 'source';
  },
  end: async (world) => {
    const thread = await world.thread('source');
    const causes = (await thread.checkpoints()).map(({ cause }) => cause);
    return {
      state: await plainState(thread),
      mails: world.mails.length,
      calledBack: [...new Set(world.calledBack)],
      isCalledBackOften: world.calledBack.length > 2,
      posts: [...world.posts.values()],
      modelCalls: world.model.calls.length,
      causes: causes.filter((cause) => cause === 'rolled_back' || cause === 'compensated'),
    };
  },
};

const forking: Journey = {
  travel: async (source) => {
    const at = await beforeNode(source, 'mail');
    const effects = await choices(source.fork(at, { id: 'fork' }), () => 'reuse').catch(() => ({}));
    await source.fork(at, { id: 'fork', effects, edit: { round: 7 } });
    return 'fork';
  },
  between: async (world) => {
    const ids = await world.visible();
    if (ids.length === 1) return expect(ids).toEqual(['source']);
    const { round, notes, big } = await plainState(await world.thread('fork'));
    expect([ids, Number(round) >= 7, Array.isArray(notes) && notes.length >= 151, String(big).length]).toEqual([
      ['fork', 'source'],
      true,
      true,
      9_000,
    ]);
  },
  end: async (world) => {
    const [source, fork] = [await world.thread('source'), await world.thread('fork')];
    const pinned = await Promise.all(
      (await source.checkpoints()).map(async ({ id }) => (await source.inspect(id)).forks),
    );
    return {
      state: await plainState(fork),
      source: (await source.checkpoints()).length,
      visible: await world.visible(),
      keys: await world.keysOf('fork'),
      mails: world.mails.length,
      posts: [...world.posts.values()],
      modelCalls: world.model.calls.length,
      pins: pinned.flat().map((pin) => pin?.thread),
    };
  },
};

describe('a process that dies', () => {
  test('[B12c, B12d, I7] and dies again while the same is asked for again: the same end, nothing done twice', async () => {
    const random = seededRandom(11);
    for (const { travel, end } of [rollingBack, forking]) {
      const whole = await given();
      const { operations } = await whole.live(travel);
      const expected = await end(whole);
      const chosen = (): Cut => ({
        at: 1 + Math.floor(randomFraction(random) * operations),
        side: randomFraction(random) < 0.5 ? 'before' : 'after',
      });
      for (let pair = 0; pair < 80; pair += 1) {
        const world = await given();
        const cuts = [chosen(), chosen()];
        for (const cut of cuts) await world.live(travel, cut);
        expect([cuts, (await world.live(travel)).end]).toEqual([cuts, { end: 'done' }]);
        expect([cuts, await end(world)]).toEqual([cuts, expected]);
      }
    }
  }, 120_000);

  test.each(['before', 'after'] as const)(
    '[B12c, I7, I5] %s any operation of rolling back and of the run after it: the same end, nothing done twice',
    async (side) => {
      expect(await cutEverywhere(rollingBack, side)).toBeGreaterThan(40);
    },
    120_000,
  );

  test.each(['before', 'after'] as const)(
    '[B12d, I7, I2] %s any operation of forking and of the fork’s run: the same end, and nothing half made is visible',
    async (side) => {
      expect(await cutEverywhere(forking, side)).toBeGreaterThan(40);
    },
    120_000,
  );

  test('[B12c, I7] the undisturbed way back: one mail called back, one sent anew, the model not asked again', async () => {
    const world = await given();
    await world.live(rollingBack.travel);

    expect(await rollingBack.end(world)).toMatchObject({
      mails: 2,
      calledBack: { length: 1 },
      posts: [0, 0],
      modelCalls: 1,
      causes: ['compensated', 'rolled_back'],
    });
    expect(nth(world.mails, 0).startsWith(nth(world.calledBack, 0))).toBe(true);
  });
});
