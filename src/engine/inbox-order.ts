/** What of an inbox comes next: a cancel before all, the rest in the order in which it came (PROTOCOL 6). */
import type { OrderedItem } from '../codec/inbox-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import { hasEnded } from './plans.ts';

export interface NextItems {
  /** The newest: whoever cancels means all that there is. */
  readonly cancel: OrderedItem | undefined;
  /** Raises limits of the run that stands. One that came behind an input which is taken up before it is for the run of that one. */
  readonly extension: OrderedItem | undefined;
  /** An input that does not wait for the end of the run that is under way. */
  readonly interrupting: OrderedItem | undefined;
  /** The input that a thread takes up whose run has ended. */
  readonly input: OrderedItem | undefined;
}

/** @param stands whether a run is under way, or stands at a limit. */
export function nextItems(items: readonly OrderedItem[], stands: boolean): NextItems {
  const interrupting = items.find(isInterrupting);
  const input = interrupting ?? items.find(({ item }) => item.type === 'input');
  const before = (stands ? interrupting : input)?.order ?? Number.POSITIVE_INFINITY;
  return {
    cancel: items.findLast(({ item }) => item.type === 'cancel'),
    extension: items.find(({ item, order }) => item.type === 'extend' && order < before),
    interrupting,
    input,
  };
}

/** An input that does not wait for the end of the run that is under way. */
export function isInterrupting({ item }: OrderedItem): boolean {
  return item.type === 'input' && (item.policy === 'interrupt' || item.policy === 'roll_back');
}

/** Whether the input takes back a run that failed by its step limit: that one could still be extended. */
export function takesBackAtLimit(control: Control, { item }: OrderedItem): boolean {
  const isOutOfSteps = control.status === 'failed' && !hasEnded(control);
  return isOutOfSteps && item.type === 'input' && item.policy === 'roll_back';
}
