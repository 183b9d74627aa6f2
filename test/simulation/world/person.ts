/** Who answers. Decides by what the plan says of the call, after a while, and insists until it is told what became of it. */
import type { Wait, WaitAnswer } from '../../../src/model/wait.ts';
import type { CallArgs, QuestionArgs } from '../plan/plan.ts';
import type { Dice } from './dice.ts';
import type { World } from './world.ts';

/** After this time every request that was on its way has arrived, and no frozen caller may start any more. */
const landedMs = 17_000;

/** So often a call is allowed to be tried again. */
const patience = 3;

export class Person {
  /** The decision that was acknowledged, by wait. */
  readonly acknowledged = new Map<string, WaitAnswer['decision']>();
  readonly #world: World;
  readonly #dice: Dice;
  readonly #seen = new Set<string>();
  /** How often each intention was asked about. */
  readonly #asked = new Map<string, number>();
  /** Whether another tab answers otherwise at the same time, sometimes. */
  isOfTwoMinds = false;

  constructor(world: World, dice: Dice) {
    this.#world = world;
    this.#dice = dice;
  }

  sees(thread: string, waits: readonly Wait[]): void {
    for (const wait of waits) {
      if (this.#seen.has(wait.id)) continue;
      this.#seen.add(wait.id);
      this.#consider(thread, wait);
    }
  }

  /** A suffix was lost, and waits with it: they are looked at anew. */
  forgets(): void {
    this.#seen.clear();
  }

  #consider(thread: string, wait: Wait): void {
    const args = wait.args as CallArgs;
    const { timeline } = this.#world;
    if (wait.kind === 'in_doubt') {
      const place = this.#world.watches.ofEffect(wait.effectKey).marks + args.place;
      const asked = this.#asked.get(place) ?? 0;
      this.#asked.set(place, asked + 1);
      const givesUp = asked >= patience || this.#dice.percent(15);
      const lookUp = (): void => {
        if (this.#world.outside.isOnTheWay(place)) {
          timeline.after(1_000, lookUp);
          return;
        }
        const { outside } = this.#world;
        const isUnplaced = wait.reason.includes('may be this one');
        const result = isUnplaced ? outside.truthOf(place, wait.tool) : outside.truth(wait.effectKey);
        void this.#answer(
          thread,
          wait,
          givesUp
            ? { decision: 'give_up' }
            : result === undefined
              ? { decision: 'not_done' }
              : { decision: 'done', result },
        );
      };
      timeline.after(landedMs, lookUp);
      return;
    }
    const answer = wait.kind === 'question' ? this.#replyTo(wait.args as QuestionArgs) : answerFor(wait, args);
    if (answer === undefined) return;
    timeline.after(this.#dice.between(5, 2_000), () => {
      void this.#answer(thread, wait, answer);
      if (wait.kind !== 'approval' || !this.isOfTwoMinds || !this.#dice.percent(40)) return;
      const other: WaitAnswer = answer.decision === 'deny' ? { decision: 'allow' } : { decision: 'deny', reason: 'no' };
      void this.#answer(thread, wait, this.#dice.percent(50) ? answer : other);
    });
  }

  #replyTo({ place, replies }: Partial<QuestionArgs>): WaitAnswer {
    if (place === undefined) return { decision: 'reply', value: this.#world.plan.policyAnswer ?? 'stop' };
    const asked = this.#asked.get(place) ?? 0;
    this.#asked.set(place, asked + 1);
    const reply = replies?.[Math.min(asked, replies.length - 1)];
    return reply == null ? { decision: 'deny', reason: 'no' } : { decision: 'reply', value: reply };
  }

  async #answer(thread: string, wait: Wait, answer: WaitAnswer): Promise<void> {
    const error = await this.#world.insist(
      `answer ${answer.decision}`,
      (_, process) => process.engine.thread(thread).answer(wait.id, wait.digest, answer),
      { about: thread },
    );
    if (error !== undefined) return;
    const before = this.acknowledged.get(wait.id);
    if (before !== undefined && before !== answer.decision) {
      this.#world.findings.violate('one-answer', `Wait for ${wait.tool} took "${before}" and "${answer.decision}".`);
    }
    this.acknowledged.set(wait.id, answer.decision);
    this.#world.mustBeStored('waits', `a:${wait.id}`);
  }
}

function answerFor({ kind }: Wait, args: CallArgs): WaitAnswer | undefined {
  if (kind !== 'approval') return undefined;
  switch (args.ask) {
    case 'allow':
      return { decision: 'allow' };
    case 'deny':
      return { decision: 'deny', reason: 'not today' };
    case 'edit':
      return { decision: 'allow', args: { ...args, text: 'as edited' } };
    case 'for_thread':
      return { decision: 'allow', forThread: true };
    default:
      return undefined;
  }
}
