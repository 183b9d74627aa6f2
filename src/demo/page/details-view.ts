import type { EffectInfo } from 'holdfast';
import { button, element, keyedList, type Part, setAttributes, setText, show } from './element.ts';
import { icon } from './icons.ts';
import { endsFile } from './progress.ts';
import type { Mark, Run } from './run.ts';
import type { ScreeningState } from './session.ts';
import { counted, markWords, timeOfDay } from './words.ts';

const SHOWN_AT_FIRST = 60;

export interface DetailsShown {
  readonly run: Run;
  readonly state: ScreeningState | null;
  readonly effects: readonly EffectInfo[];
  readonly isWorkerOpen: boolean;
}

export interface DetailsActions {
  reload(): void;
  killWorker(): void;
}

interface Row {
  readonly mark: Mark;
  readonly words: string;
  readonly isResumed: boolean;
}

const effectWords = {
  in_progress: 'under way',
  in_doubt: 'in doubt',
  succeeded: 'done, once',
  failed: 'refused',
  compensated: 'undone',
  given_up: 'left in doubt',
} as const;

/** What lies below a run: its checkpoints, its actions in the world, and two ways to try what they are good for. */
export function detailsView(actions: DetailsActions): Part<DetailsShown> {
  const empty = element('p', { class: 'empty' }, 'No checkpoint yet. Each step of the run will stand here.');
  const list = element('ol', { class: 'checkpoints', 'aria-label': 'Checkpoints, newest first' });
  let isAll = false;
  let last: DetailsShown | null = null;
  const more = button('Show all', () => {
    isAll = true;
    if (last !== null) update(last);
  });
  const effectList = element('ul', { class: 'effects' });
  const effectPart = element(
    'section',
    { hidden: true },
    element('h3', {}, 'Actions in the world'),
    element(
      'p',
      { class: 'quiet' },
      'Invitations go to the outbox of this demo, which sends nothing on and forgets all when its server stops.',
    ),
    effectList,
  );
  const updateRows = keyedList<Row>(list, ({ mark }) => String(mark.sequence), checkpointRow);
  const updateEffects = keyedList<EffectInfo>(effectList, ({ number }) => String(number), effectRow);

  const update = (now: DetailsShown): void => {
    last = now;
    const rows = rowsOf(now);
    const shown = isAll ? rows : rows.slice(0, SHOWN_AT_FIRST);
    updateRows(shown);
    show(empty, rows.length === 0);
    show(tries, rows.length > 0);
    kill.disabled = !now.isWorkerOpen;
    show(more, shown.length < rows.length);
    const calls = now.effects.filter(({ kind }) => kind === 'tool');
    show(effectPart, calls.length > 0);
    updateEffects(calls);
  };

  const kill = button('Kill the worker', actions.killWorker, { class: 'is-small' }, icon('power'));
  const tries = convince(actions.reload, kill);
  const node = element(
    'div',
    { class: 'details-content' },
    tries,
    effectPart,
    element('section', {}, element('h3', {}, 'Checkpoints'), empty, list, more),
  );
  return { node, update };
}

function convince(reload: () => void, kill: HTMLElement): HTMLElement {
  return element(
    'section',
    { class: 'convince' },
    element('h3', {}, 'Convince yourself'),
    element(
      'p',
      { class: 'quiet' },
      'Do your worst in the middle of a run. It goes on where it was, and repeats nothing.',
    ),
    element(
      'div',
      { class: 'buttons' },
      button('Reload the page now', reload, { class: 'is-small' }, icon('reload')),
      kill,
    ),
  );
}

function rowsOf({ run, state }: DetailsShown): Row[] {
  let file = 0;
  const rows = run.marks.map((mark) => {
    const words = markWords(mark, state?.files[file]?.name);
    if (endsFile(mark)) file += 1;
    return { mark, words, isResumed: run.notches.has(mark.sequence) };
  });
  return rows.reverse();
}

function checkpointRow(): Part<Row> {
  const number = element('span', { class: 'number' });
  const words = element('span', { class: 'checkpoint-words' });
  const resumed = element('span', { class: 'resumed-note' }, 'Resumed where it stopped');
  const time = element('time', { class: 'number quiet' });
  const node = element('li', {}, number, words, time, resumed);
  return {
    node,
    update(row) {
      const { mark, isResumed } = row;
      setAttributes(node, { class: `is-${mark.cause} is-${mark.kind}`, 'data-resumed': isResumed });
      setText(number, String(mark.sequence));
      setText(words, row.words);
      setText(time, timeOfDay(mark.atMs));
      const saved = mark.commitMs > 0 ? `, saved in ${counted(Math.round(mark.commitMs), 'millisecond')}` : '';
      const kind = mark.kind === 'snapshot' ? 'The whole state' : 'What the step changed';
      setAttributes(time, { datetime: new Date(mark.atMs).toISOString() });
      setAttributes(node, { title: `${kind}${saved}` });
      show(resumed, isResumed);
    },
  };
}

function effectRow(): Part<EffectInfo> {
  const words = element('span', {});
  const status = element('span', { class: 'effect-status' });
  const key = element('code', {});
  const node = element('li', {}, words, status, key);
  return {
    node,
    update(effect) {
      setText(words, `${effect.name}, attempt ${effect.attempt}`);
      setText(status, effectWords[effect.status]);
      setText(key, effect.key.slice(0, 12));
      setAttributes(key, { title: `Effect key ${effect.key}` });
      setAttributes(node, { 'data-status': effect.status });
    },
  };
}
