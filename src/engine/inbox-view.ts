/**
 * The inbox as a runner may act on it. While steps run again after a repair, what was settled behind them waits for its turn: else
 * an input that interrupted a later run would interrupt an earlier one, and calls would be made again under other keys (PROTOCOL 4).
 */
import { type OrderedItem, readInbox } from '../codec/inbox-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import { holdsNothing, type InboxReplay, type ReplayedItems, wasThere } from '../model/inbox.ts';

export class InboxView {
  readonly #codec: ThreadCodec;
  /** Groups that are shown before their turn, by their first order: the run is not going to come to it. */
  readonly #early = new Set<number>();
  #showsAll = false;

  constructor(codec: ThreadCodec) {
    this.#codec = codec;
  }

  /** All items that are not settled, in order, and those among them that may be acted on. */
  async read({
    inboxTaken,
    consumed,
    inboxReplay,
  }: Control): Promise<{ readonly all: readonly OrderedItem[]; readonly due: readonly OrderedItem[] }> {
    const all = await readInbox(this.#codec, inboxTaken, { consumed });
    return {
      all,
      due: inboxReplay === null || holdsNothing(inboxReplay) || this.#showsAll ? all : this.#due(all, inboxReplay),
    };
  }

  /**
   * Where nothing else can be done, shows what is next although its steps have not run again. Whether there was anything. A run that
   * waits, once more, for an answer that is lost may still come to what was settled behind it: that is not shown then.
   */
  showNext({ inboxReplay, status }: Pick<Control, 'inboxReplay' | 'status'>): boolean {
    if (inboxReplay === null || holdsNothing(inboxReplay) || this.#showsAll) return false;
    const next = inboxReplay.groups.find((group) => !this.#isEarly(group));
    if (next === undefined) this.#showsAll = true;
    else if (status === 'waiting' && inboxReplay.isExact) return false;
    else for (const order of next.orders.slice(0, 1)) this.#early.add(order);
    return true;
  }

  #due(all: readonly OrderedItem[], replay: InboxReplay): readonly OrderedItem[] {
    const { groups } = replay;
    // Who cancels now means all that there is.
    if (all.some(({ item, order }) => item.type === 'cancel' && !wasThere(replay, order))) return all;
    const shown = groups.filter((group, index) => (index === 0 && group.steps === 0) || this.#isEarly(group));
    const orders = new Set(shown.flatMap((group) => group.orders));
    return all.filter(({ item, order }) => item.type === 'event' || orders.has(order)); // an event is for whoever waits for it
  }

  #isEarly({ orders: [first = 0] }: ReplayedItems): boolean {
    return this.#early.has(first);
  }
}
