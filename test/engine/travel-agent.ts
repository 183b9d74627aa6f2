/** An agent with something to go back over: a model's answer, a mail that can be called back, a post that cannot. */
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { EngineOptions } from '../../src/engine/ports.ts';
import { log, value } from '../../src/model/fields.ts';
import type { EffectChoice } from '../../src/model/past.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { nth, Scene, ScriptedModel } from './support.ts';

export class TravelWorld {
  readonly sent: string[] = [];
  readonly calledBack: string[] = [];
  readonly posted: string[] = [];
  readonly looked: number[] = [];
  /** Makes the next compensations fail. */
  refusals = 0;
  /** What a mail waits for on its way. */
  onSend: () => Promise<void> | void = () => undefined;
  readonly model = new ScriptedModel((prompt) => `thought of ${prompt}`);
  readonly agent = this.#agent();
  readonly scene: Scene;

  constructor(options: Partial<EngineOptions> = {}) {
    this.scene = new Scene({ agent: this.agent, model: this.model, ...options });
  }

  /** Run to its end: seven checkpoints and four effects. */
  async done(update: object = { name: 'ann' }): Promise<EngineThread> {
    const thread = await this.scene.begun(update);
    await thread.run();
    return thread;
  }

  #agent() {
    const send = tool({
      name: 'send',
      description: 'Sends a mail',
      input: z.object({ to: z.string(), text: z.string() }),
      effect: 'once',
      run: async ({ to, text }, { effectKey }) => {
        await this.onSend();
        this.sent.push(`${to}: ${text}`);
        return `sent ${effectKey}`;
      },
      compensate: ({ to }, { effectKey }) => {
        if (this.refusals > 0) {
          this.refusals -= 1;
          throw new Refusal('the mail server is away', { retry: false });
        }
        this.calledBack.push(`${to} ${effectKey}`);
      },
    });
    const post = tool({
      name: 'post',
      description: 'Posts',
      input: z.object({ n: z.number() }),
      effect: 'idempotent',
      run: ({ n }) => {
        this.posted.push(`${n}`);
        return `posted ${n}`;
      },
    });
    const look = tool({
      name: 'look',
      description: 'Looks',
      input: z.object({}),
      effect: 'read',
      run: () => this.looked.push(1),
    });
    return defineAgent({
      name: 'traveller',
      version: 1,
      state: {
        name: value(z.string(), ''),
        round: value(z.number(), 0, (current, add: number) => current + add),
        facts: value(z.record(z.string(), z.unknown()), {}),
        notes: log(z.string()),
      },
      tools: { send, post, look },
      start: 'think',
      nodes: {
        think: async ({ name }, { model, goto }) => {
          const thought = await model.text(`mail to ${name}`);
          return goto('mail', { notes: [thought], round: 1, facts: { name, deep: { list: [1, 2] } } });
        },
        mail: async ({ name, notes }, { call, goto }) => {
          const [text = ''] = await notes.tail(1);
          const receipt = await call('send', { to: name, text });
          return goto('publish', { notes: [receipt] });
        },
        publish: async ({ round, facts }, { call, goto }) => {
          await call('look', {});
          const line = await call('post', { n: round });
          return goto('finish', { notes: [line], facts: { ...facts, deep: { list: [1, 3], line } } });
        },
        finish: ({ notes }, { end }) => end({ notes: [`${notes.length} notes`] }),
      },
    });
  }
}

/** The checkpoint after which this node is to run. */
export async function beforeNode(thread: EngineThread, node: string) {
  const found = (await thread.checkpoints()).filter(({ position }) => position.next[0]?.node === node);
  return nth(found, -1).id;
}

/** One choice for every effect that is asked about. */
export async function choices(attempt: Promise<unknown>, choice: (name: string) => EffectChoice) {
  const error: unknown = await attempt.then(
    () => new Error('nothing was asked'),
    (reason: unknown) => reason,
  );
  const { code, details } = error as { code: string; details: { effects: { key: string; name: string }[] } };
  if (code !== 'choice_needed') throw error;
  return Object.fromEntries(details.effects.map(({ key, name }) => [key, choice(name)]));
}
