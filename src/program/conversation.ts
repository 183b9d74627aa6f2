/**
 * Helpers for a conversation kept in a log field (A9): what of it a model sees, and how the older part becomes a summary. They
 * read the newest items first, and no more than they need; nothing is ever taken out of the log: what a summary covers is the
 * archive, which `slice` still reads.
 */
import type { Log } from '../model/fields.ts';
import { checkAmount, checkOptions } from './option-checks.ts';

/** An item of a conversation: its id is the same whenever the same message comes again. */
export interface Identified {
  readonly id: string;
  /** `tool` answers a call of the message before it, and never stands first. */
  readonly role?: string;
}

export interface WindowLimits<Item> {
  /** At most so many messages. */
  readonly messages?: number;
  /** At most so many tokens in all. The newest message is given in any case. */
  readonly tokens?: number;
  /** Tokens of a message. Default: a quarter of the characters of its JSON. */
  readonly tokensOf?: (item: Item) => number;
}

/** What stands for the messages before `upTo`. A value field of the state: `value(summarySchema, noSummary)`. */
export interface Summary {
  readonly text: string;
  /** Index in the log of the first message that it does not cover. */
  readonly upTo: number;
}

export const noSummary: Summary = { text: '', upTo: 0 };

/** Items read in one go. */
const batch = 32;

/**
 * The newest messages that fit the limits, oldest first, each id once: the first time it came. A tool's result whose call does not
 * fit is left out with it. `from`: nothing before this index, where a summary covers it.
 *
 * @throws `argument_invalid`
 */
export async function messageWindow<Item extends Identified>(
  log: Log<Item>,
  limits: WindowLimits<Item> = {},
  from = 0,
): Promise<readonly Item[]> {
  checkLimits(limits);
  const { messages = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY, tokensOf = roughTokens } = limits;
  const found = new Map<string, Item>(); // newest first
  let spent = 0;
  for await (const item of newestFirst(log, from)) {
    const later = found.get(item.id); // then it stands where it came first
    const cost = spent + tokensOf(item) - (later === undefined ? 0 : tokensOf(later));
    const count = found.size - (later === undefined ? 0 : 1);
    if (count >= messages || (cost > tokens && count > 0)) break;
    found.delete(item.id);
    found.set(item.id, item);
    spent = cost;
  }
  const shown = [...found.values()].reverse();
  const first = shown.findIndex(({ role }) => role !== 'tool');
  return first === -1 ? [] : shown.slice(first);
}

/**
 * The summary that covers all but the newest messages of the window: made by `write` from the one before and the messages that it
 * does not cover yet. The same object where nothing has left the window: then `write` is not called. Give it to the state
 * with the node's other updates; `write` calls the model through the node's context, so that it is recorded.
 */
export async function summarized<Item extends Identified>(
  log: Log<Item>,
  before: Summary,
  limits: WindowLimits<Item>,
  write: (summary: string, leaving: readonly Item[]) => Promise<string>,
): Promise<Summary> {
  const kept = new Set((await messageWindow(log, limits, before.upTo)).map(({ id }) => id));
  const open = await log.slice(before.upTo);
  const first = open.findIndex(({ id }) => kept.has(id));
  const leaving = first === -1 ? open : open.slice(0, first);
  if (leaving.length === 0) return before;
  return { text: await write(before.text, leaving), upTo: before.upTo + leaving.length };
}

/** The items that the log does not hold yet, each id once. Reads back until all are found, at most the whole log. */
export async function unseen<Item extends Identified>(
  log: Log<Item>,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const fresh = new Map<string, Item>();
  for (const item of items) if (!fresh.has(item.id)) fresh.set(item.id, item);
  for await (const { id } of newestFirst(log, 0)) {
    if (fresh.size === 0) break;
    fresh.delete(id);
  }
  return [...fresh.values()];
}

function checkLimits(limits: object): void {
  const call = 'messageWindow(log, limits)';
  checkOptions(call, limits, ['messages', 'tokens', 'tokensOf']);
  const { messages, tokens } = limits as { readonly messages?: unknown; readonly tokens?: unknown };
  checkAmount(call, 'messages', messages, 'from 0');
  checkAmount(call, 'tokens', tokens, 'from 0');
}

async function* newestFirst<Item>(log: Log<Item>, from: number): AsyncGenerator<Item, void, undefined> {
  for (let end = log.length; end > from; end -= batch) {
    const items = await log.slice(Math.max(from, end - batch), end);
    yield* [...items].reverse();
  }
}

function roughTokens(item: unknown): number {
  return Math.ceil((JSON.stringify(item)?.length ?? 0) / 4);
}
