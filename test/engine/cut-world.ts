/**
 * A small agent with all that can go wrong in it, the world outside that counts what it does, and lives that are cut off at
 * a chosen operation. What is outside counts by intention ("the invitation of Ann"), not by key: a wrong key would hide the
 * very fault it causes.
 */
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { RunEnd } from '../../src/engine/run-end.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel } from '../../src/program/model.ts';
import { done, notDone, Refusal, tool } from '../../src/program/tool.ts';
import { type Cut, CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { plainState } from './support.ts';

interface Invitation {
  readonly to: string;
  readonly text: string;
  readonly key: string;
  readonly attempt: number;
}

/** The services that the agent talks to. They outlive every process. */
class Outside {
  /** Times that each intention was carried out. */
  readonly invited = new Map<string, number>();
  /** What was filed, by key: a key that comes again must bring the same. */
  readonly filed = new Map<string, string>();
  readonly changedFilings: string[] = [];
  /** Keys of the calls that reached a service, by life. */
  readonly calls: { readonly life: number; readonly key: string }[] = [];
  readonly #arrived = new Map<string, string>();
  readonly #closed = new Set<string>();
  readonly #onTheWay = new Set<Invitation>();

  file(key: string, text: string): string {
    if ((this.filed.get(key) ?? text) !== text) this.changedFilings.push(key);
    this.filed.set(key, text);
    return `filed ${text}`;
  }

  /** A request that has left its sender: it may arrive after the sender's death. */
  send(invitation: Invitation): { readonly arrive: () => string } {
    this.#onTheWay.add(invitation);
    return { arrive: () => this.#arrive(invitation) };
  }

  /** Everything that is still on the way arrives now. */
  deliverTheRest(): void {
    for (const invitation of this.#onTheWay) {
      try {
        this.#arrive(invitation);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
  }

  /** What became of an attempt; one that has not arrived by now never will. */
  verify(key: string, attempt: number) {
    const receipt = this.#arrived.get(`${key} ${attempt}`);
    if (receipt !== undefined) return done(receipt);
    this.#closed.add(`${key} ${attempt}`);
    return notDone({ closed: true });
  }

  #arrive(invitation: Invitation): string {
    this.#onTheWay.delete(invitation);
    const { to, text, key, attempt } = invitation;
    if (this.#closed.has(`${key} ${attempt}`)) throw new Refusal('this attempt was closed');
    this.invited.set(to, (this.invited.get(to) ?? 0) + 1);
    const receipt = `invited ${to}: ${text}`;
    this.#arrived.set(`${key} ${attempt}`, receipt);
    return receipt;
  }
}

export interface Ending {
  readonly state: Readonly<Record<string, unknown>>;
  readonly visits: Readonly<Record<string, number>>;
  readonly steps: number;
  readonly effects: number;
}

/** One thread from its first input to its end, through as many lives as it takes. */
export class CutWorld {
  readonly outside = new Outside();
  /** Calls that were made although their result was on record. */
  readonly repeated: string[] = [];
  readonly #world = new TestWorld();
  #life = new Life();
  #lives = 0;

  /** Runs the thread in a process of its own until the process dies or the thread ends. */
  async live(cut?: Cut): Promise<{ readonly end: 'died' | 'stuck' | RunEnd; readonly operations: number }> {
    const completed = this.#lives === 0 ? new Set<string>() : await this.#completedKeys();
    const life = new Life(cut);
    this.#life = life;
    this.#lives += 1;
    this.#world.clock.advance(3_000); // another time, so that a value that was not recorded shows
    const { stuck, stop } = stuckAfter(20_000);
    const end = await Promise.race([this.#work(life), life.death, stuck]);
    stop();
    const calls = this.outside.calls.filter((call) => call.life === this.#lives);
    this.repeated.push(...calls.filter(({ key }) => completed.has(key)).map(({ key }) => key));
    return { end, operations: life.operations };
  }

  async ending(): Promise<Ending> {
    this.#life = new Life();
    const thread = await this.#thread();
    const [head] = await thread.checkpoints({ limit: 1 });
    const succeeded = (await thread.effects()).filter(
      ({ status, kind }) => status === 'succeeded' && kind !== 'verify',
    );
    return {
      state: await plainState(thread),
      visits: head?.position.visits ?? {},
      steps: head?.control.run.steps ?? -1,
      effects: succeeded.length,
    };
  }

  async #work(life: Life): Promise<RunEnd> {
    const thread = await this.#thread(life);
    await thread.send({ guest: 'ann' }, 'the one input');
    for (;;) {
      const end = await thread.run();
      if (end.end !== 'waiting') return end;
      for (const wait of await thread.waits()) await thread.answer(wait.id, wait.digest, { decision: 'allow' });
    }
  }

  async #thread(life?: Life): Promise<EngineThread> {
    const store = this.#world.store();
    const options = { agent: this.#agent(), model: this.#model() };
    const engine = await this.#world.engine(options, life === undefined ? store : new CuttingStore(store, life));
    return engine.thread('cut');
  }

  async #completedKeys(): Promise<ReadonlySet<string>> {
    const effects = await (await this.#thread()).effects();
    return new Set(effects.filter(({ status }) => status === 'succeeded').map(({ key }) => key));
  }

  /** One call to the outside by the process that makes it. */
  #reach<Result>(key: string, carryOut: () => Result): Promise<Result> {
    const [life, number] = [this.#life, this.#lives];
    return life.pass(() => {
      this.outside.calls.push({ life: number, key });
      return carryOut();
    });
  }

  /** Answers differently in each life. */
  #model(): LanguageModel {
    const [reach, lives] = [this.#reach.bind(this), this.#lives];
    return {
      name: 'fickle',
      async *stream(request, { effectKey }) {
        const [message] = request.messages;
        const prompt = message !== undefined && 'text' in message ? message.text : '';
        const text = await reach(effectKey, () => `${prompt} in life ${lives}`);
        yield { type: 'text', text };
        yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
  }

  #agent() {
    const file = tool({
      name: 'file',
      description: 'Files a text',
      input: z.object({ text: z.string() }),
      effect: 'idempotent',
      run: ({ text }, { effectKey }) => this.#reach(effectKey, () => this.outside.file(effectKey, text)),
    });
    const invite = tool({
      name: 'invite',
      description: 'Invites a guest',
      input: z.object({ to: z.string(), text: z.string() }),
      effect: 'once',
      approval: 'always',
      run: async ({ to, text }, { effectKey, attempt }) => {
        const request = this.outside.send({ to, text, key: effectKey, attempt });
        return this.#reach(effectKey, () => request.arrive());
      },
      verify: (_input, { effectKey, attempt }) =>
        this.#reach(`verify ${effectKey}`, () => this.outside.verify(effectKey, attempt)),
    });
    return defineAgent({
      name: 'host',
      version: 1,
      state: {
        guest: value(z.string(), ''),
        round: value(z.number(), 0),
        thoughts: log(z.string()),
        filings: log(z.string()),
        stamps: log(z.string()),
        receipt: value(z.string(), ''),
      },
      tools: { file, invite },
      start: 'think',
      nodes: {
        think: async ({ round }, { now, random, model, goto }) => {
          const stamp = `${now()} ${random()}`;
          const thought = await model.text(`round ${round}`);
          return goto('keep', { round: round + 1, thoughts: [thought], stamps: [stamp] });
        },
        keep: async ({ round, thoughts }, { call, now, random, goto }) => {
          const [thought = ''] = await thoughts.tail(1);
          const text = `${thought} at ${now()} by ${random()}`;
          const filing = await call('file', { text });
          return goto(round < 2 ? 'think' : 'invite', { filings: [filing] });
        },
        invite: async ({ guest }, { call, random, end }) => {
          const note = await call('file', { text: `inviting with ${random()}` });
          const receipt = await call('invite', { to: guest, text: `welcome ${random()}` });
          return end({ filings: [note], receipt });
        },
      },
    });
  }
}

/** A life takes milliseconds: one that is not over by now never will be. */
function stuckAfter(ms: number): { readonly stuck: Promise<'stuck'>; readonly stop: () => void } {
  const { promise, resolve } = deferred<'stuck'>();
  const timer = setTimeout(() => resolve('stuck'), ms);
  return { stuck: promise, stop: () => clearTimeout(timer) };
}
