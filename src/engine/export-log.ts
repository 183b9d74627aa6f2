/** The event log as JSON Lines (A6): one event a line, with the data that it refers to. */
import { errorToData } from '../base/errors.ts';
import { readInbox } from '../codec/inbox-codec.ts';
import { readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { readAnswer, readWait } from '../codec/wait-codec.ts';
import type { EventRef, LoggedEvent } from '../model/event.ts';
import type { WaitId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { readEvents } from './event-log.ts';
import { jsonOf } from './json-of.ts';

const pageCommits = 50;

/** Reads the thread as it is now; `undefined` while there is none. */
type Read = <Result>(
  work: (thread: { readonly codec: ThreadCodec; readonly row: ThreadRow }) => Promise<Result>,
) => Promise<Result | undefined>;

/**
 * The whole log, oldest first, read page by page. A line is a `LoggedEvent` whose `input` and `output` carry a `data` each; data
 * that cannot be read carries the `error` instead, and does not end the export.
 */
export async function* exportLog(read: Read): AsyncGenerator<string, void, undefined> {
  for (let from: string | undefined; ; ) {
    const query = { limit: pageCommits, ...(from !== undefined && { from }) };
    const page = await read(async ({ codec, row }) => {
      const events = await readEvents(codec, row, query);
      return { events, lines: await Promise.all(events.map((event) => resolved(codec, event))) };
    });
    for (const line of page?.lines ?? []) yield `${JSON.stringify(line)}\n`;
    const { events = [] } = page ?? {};
    const last = events.at(-1);
    const commits = new Set(
      events.filter(({ id }) => !id.endsWith('.~')).map(({ id }) => id.slice(0, id.lastIndexOf('.'))),
    );
    if (last === undefined || commits.size < pageCommits) return;
    from = last.id;
  }
}

async function resolved(codec: ThreadCodec, event: LoggedEvent) {
  const all = (refs: readonly EventRef[]) => Promise.all(refs.map((ref) => withData(codec, ref)));
  return { ...event, input: await all(event.input), output: await all(event.output) };
}

async function withData(codec: ThreadCodec, ref: EventRef) {
  if (ref.kind === 'checkpoint') return ref; // the state is read by `state(id)`
  try {
    return { ...ref, data: jsonOf(await dataOf(codec, ref)) };
  } catch (error) {
    return { ...ref, error: { ...errorToData(error), stack: undefined } };
  }
}

async function dataOf(codec: ThreadCodec, ref: Exclude<EventRef, { kind: 'checkpoint' }>): Promise<unknown> {
  if (ref.kind === 'inbox') {
    const [item] = await readInbox(codec, ref.order - 1, { limit: 1 });
    return item?.order === ref.order ? item.item : undefined;
  }
  if (ref.kind === 'wait') {
    return ref.part === 'w' ? readWait(codec, ref.id as WaitId) : (await readAnswer(codec, ref.id as WaitId))?.answer;
  }
  const [entry] = (await readLedger(codec, ref.number - 1, ref.number)).entries;
  if (entry === undefined) return undefined;
  if (ref.part === 'i') return codec.decodeValue(entry.intent.args);
  const { outcome } = entry;
  return (
    outcome && { value: outcome.value === null ? null : await codec.decodeValue(outcome.value), error: outcome.error }
  );
}
