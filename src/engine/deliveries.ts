/** What the engine does for waits that no person answers: it brings events from the inbox, and starts children. */
import type { OrderedItem } from '../codec/inbox-codec.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import type { Boundary } from './boundary.ts';
import { Children } from './children.ts';

export class Deliveries {
  readonly #boundary: Boundary;
  readonly #children: Children;
  readonly #delivered: Set<number>;
  readonly #answer: (wait: Wait, answer: WaitAnswer) => Promise<void>;
  /** Waits whose child was made, or found, by this runner. */
  readonly #started = new Set<WaitId>();

  /** `delivered`: inbox items that are the answer to a wait whose step has not ended. */
  constructor(boundary: Boundary, delivered: Set<number>, answer: (wait: Wait, answer: WaitAnswer) => Promise<void>) {
    this.#boundary = boundary;
    this.#children = new Children(boundary.parts.ports, boundary.parts.options);
    this.#delivered = delivered;
    this.#answer = answer;
  }

  /** Makes the children that these waits are for. */
  async start(waits: readonly Wait[]): Promise<void> {
    for (const wait of waits) {
      this.#started.add(wait.id);
      await this.#children.start(this.#boundary.parts.writer.codec, wait);
    }
  }

  /** Asks the children that these waits are for to stop. */
  async cancel(waits: readonly Wait[]): Promise<void> {
    for (const wait of waits) await this.#children.cancel(wait);
  }

  /** Answers a wait if the event that it is for has come, and takes it out of `answerable`; makes the child that one is for. */
  async deliver(wait: Wait, answerable: Map<WaitId, Wait>, items: readonly OrderedItem[]): Promise<void> {
    if (wait.kind === 'child') {
      if (!this.#started.has(wait.id)) await this.start([wait]);
      return;
    }
    const found = items.find(
      ({ order, item }) => item.type === 'event' && item.name === wait.tool && !this.#delivered.has(order),
    );
    if (found?.item.type !== 'event' || !answerable.delete(wait.id)) return;
    this.#delivered.add(found.order);
    await this.#answer(wait, { decision: 'arrived', value: found.item.value, order: found.order });
  }
}
