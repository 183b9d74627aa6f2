/** What the engine does for waits that no person answers: it brings events from the inbox, and starts children. */
import { type OrderedItem, readInbox } from '../codec/inbox-codec.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import type { Boundary } from './boundary.ts';
import { Children } from './children.ts';

/** Open waits that the engine answers. */
export type Answerable = Map<WaitId, Wait>;

export class Deliveries {
  readonly #boundary: Boundary;
  readonly #children: Children;
  readonly #given: Map<number, WaitId>;
  readonly #answer: (wait: Wait, answer: WaitAnswer) => Promise<boolean>;
  /** Waits whose child was made, or found, by this runner. */
  readonly #started = new Set<WaitId>();
  #starting: Promise<unknown> = Promise.resolve();

  /** `given`: inbox items that were given to a wait, by their orders; `answer` says whether the answer stands. */
  constructor(
    boundary: Boundary,
    given: Map<number, WaitId>,
    answer: (wait: Wait, answer: WaitAnswer) => Promise<boolean>,
  ) {
    this.#boundary = boundary;
    this.#children = new Children(boundary.parts.ports, boundary.parts.options);
    this.#given = given;
    this.#answer = answer;
  }

  /** Makes the children that these waits are for. */
  async start(waits: readonly Wait[]): Promise<void> {
    const starting = this.#start(waits);
    this.#starting = Promise.allSettled([this.#starting, starting]);
    await starting;
  }

  async #start(waits: readonly Wait[]): Promise<void> {
    for (const wait of waits) {
      this.#started.add(wait.id);
      const gone = await this.#children.start(this.#boundary.parts.writer.codec, wait);
      if (gone !== undefined) await this.#answer(wait, { decision: 'ended', value: gone });
    }
  }

  /** Asks the children that these waits are for to stop. One that is being made would not be found, and would run on. */
  async cancel(waits: readonly Wait[]): Promise<void> {
    await this.#starting;
    for (const wait of waits) await this.#children.cancel(this.#boundary.parts.writer.codec, wait);
  }

  /** Makes the child that a wait is for, or answers one with the event that it is for, if that has come. */
  async deliver(wait: Wait, answerable: Answerable, items: readonly OrderedItem[]): Promise<void> {
    if (wait.kind !== 'child') await this.#giveEvent(wait, answerable, items);
    else if (!this.#started.has(wait.id)) await this.start([wait]);
  }

  /** Answers a wait whose time is over with an event that came in time. Whether there was one. */
  async deliverLate(wait: Wait, answerable: Answerable): Promise<boolean> {
    const { inboxTaken, consumed } = this.#boundary.control;
    const items = await readInbox(this.#boundary.parts.writer.codec, inboxTaken, { consumed });
    return this.#giveEvent(wait, answerable, items);
  }

  /** Answers the wait with the first event that is for it. Whether there was one, or it is being answered. */
  async #giveEvent(wait: Wait, answerable: Answerable, items: readonly OrderedItem[]): Promise<boolean> {
    const found = items.find((one) => this.#isFor(wait, one));
    if (found?.item.type !== 'event') return false;
    if (!answerable.delete(wait.id)) return true;
    this.#given.set(found.order, wait.id); // at once: another look may be under way
    const { value } = found.item;
    const isTaken = await this.#answer(wait, { decision: 'arrived', value, order: found.order });
    if (!isTaken) this.#given.delete(found.order);
    return true;
  }

  /** What came after the time of a wait is for the next one. */
  #isFor({ tool, expiresAtMs }: Wait, { order, item }: OrderedItem): boolean {
    if (item.type !== 'event' || item.name !== tool || !this.#isFree(order)) return false;
    const isOver = expiresAtMs !== null && expiresAtMs <= this.#boundary.parts.ports.time.nowMs();
    return !isOver || item.atMs < expiresAtMs;
  }

  /** Neither settled, nor the answer to a wait whose step stands. */
  #isFree(order: number): boolean {
    const { inboxTaken, consumed, waits } = this.#boundary.control;
    const wait = this.#given.get(order);
    return order > inboxTaken && !consumed.includes(order) && (wait === undefined || !waits.includes(wait));
  }
}
