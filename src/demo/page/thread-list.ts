import type { ThreadSummary } from 'holdfast';
import { element, keyedList, type Part, setAttributes, setText, show } from './element.ts';
import type { Run } from './run.ts';
import { threadLine } from './thread-line.ts';
import { dayAndTime, statusWords } from './words.ts';

/** An earlier screening as the list shows it; `title` and `run` come when they have been read. */
export interface ListedThread {
  readonly id: string;
  readonly summary: ThreadSummary;
  readonly title: string | null;
  readonly run: Run | null;
  readonly end: number;
  readonly isCurrent: boolean;
}

export interface ThreadsShown {
  readonly threads: readonly ListedThread[];
  /** Rows that could not be opened: without a key, or damaged. */
  readonly unreadable: readonly ThreadSummary[];
  readonly isLoading: boolean;
  readonly problem: string | null;
}

export function threadList(): Part<ThreadsShown> {
  const list = element('ul', { class: 'threads' });
  const note = element('p', { class: 'empty', role: 'status' });
  const update = keyedList<ListedThread>(list, ({ id }) => id, threadRow);
  return {
    node: element('div', {}, note, list),
    update({ threads, unreadable, isLoading, problem }) {
      update(threads);
      const words = problem ?? noteFor(threads.length, unreadable, isLoading);
      show(note, words !== '');
      setText(note, words);
      setAttributes(note, { 'data-failed': problem !== null || unreadable.length > 0 });
    },
  };
}

function noteFor(count: number, unreadable: readonly ThreadSummary[], isLoading: boolean): string {
  if (isLoading) return 'Opening what was saved …';
  const [damaged] = unreadable;
  if (damaged !== undefined) {
    const which = unreadable.length === 1 ? 'One screening' : `${unreadable.length} screenings`;
    return `${which} cannot be opened. ${damaged.error?.message ?? ''}`;
  }
  return count === 0 ? 'No screening yet. Those you start will stand here, also after a reload.' : '';
}

function threadRow({ id }: ListedThread): Part<ListedThread> {
  const title = element('span', { class: 'thread-title' });
  const status = element('span', { class: 'status' });
  const time = element('time', { class: 'number quiet' });
  const line = threadLine({ small: true });
  const link = element(
    'a',
    { href: `#${encodeURIComponent(id)}` },
    title,
    line.node,
    element('span', { class: 'thread-foot' }, status, time),
  );
  return {
    node: element('li', {}, link),
    update({ summary, title: words, run, end, isCurrent }) {
      const isBlocked = run !== null && run.blocked !== null;
      const now = run?.isLoaded ? run.status : summary.status;
      setText(title, words ?? 'Screening');
      setAttributes(title, { title: words });
      setText(status, statusWords(now, isBlocked));
      setAttributes(status, { 'data-status': isBlocked ? 'failed' : now });
      setText(time, dayAndTime(summary.createdAtMs));
      setAttributes(link, { 'aria-current': isCurrent ? 'page' : false });
      show(line.node, run !== null);
      if (run !== null) line.update({ run, end });
    },
  };
}
