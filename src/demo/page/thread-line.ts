import { element, keyedList, setAttributes, setText, show } from './element.ts';
import type { Mark, Run } from './run.ts';
import { counted, stepsInWords } from './words.ts';

/** More marks than this would touch each other: then every second, third … is left out. */
const MARKS_LIMIT = 160;

export interface LinePosition {
  readonly run: Run;
  /** The sequence number at the right end. */
  readonly end: number;
}

export interface ThreadLine {
  readonly node: HTMLElement;
  update(position: LinePosition): void;
}

interface Placed {
  readonly mark: Mark;
  readonly at: number;
}

/**
 * The thread as a line, its checkpoints as marks on it, growing with each commit. A reload left a notch. `small` is the
 * one in the list: no words.
 */
export function threadLine({ small = false } = {}): ThreadLine {
  const done = element('span', { class: 'line-done' });
  const marks = element('span', { class: 'line-marks' });
  const notches = element('span', { class: 'line-notches' });
  const head = element('span', { class: 'line-head' });
  const label = element('span', { class: 'line-label' });
  const track = element('span', { class: 'line-track' }, done, marks, notches, head, label);
  const node = element('div', { class: small ? 'thread-line is-small' : 'thread-line', role: 'img' }, track);

  let isDrawn = false;
  const updateMarks = keyedList<Placed>(
    marks,
    ({ mark }) => String(mark.sequence),
    () => {
      const dot = element('span', { 'data-new': isDrawn });
      return {
        node: dot,
        update({ mark, at }) {
          setAttributes(dot, { class: `mark is-${mark.cause} is-${mark.kind}` });
          place(dot, at);
        },
      };
    },
  );
  const updateNotches = keyedList<number>(
    notches,
    (at) => String(at),
    () => {
      const cut = element('span', { class: 'notch' });
      return { node: cut, update: (at) => place(cut, at) };
    },
  );

  return {
    node,
    update({ run, end }) {
      const last = run.marks.at(-1)?.sequence ?? 0;
      const scale = (sequence: number) => Math.min(1, sequence / Math.max(1, end));
      const steps = [...run.notches].sort((a, b) => a - b);
      done.style.width = percent(run.marks.length === 0 ? 0 : scale(last));
      updateMarks(thinned(run.marks).map((mark) => ({ mark, at: scale(mark.sequence) })));
      updateNotches(steps.map((step) => scale(step - 0.5)));
      const isMoving = run.status === 'running' && run.blocked === null;
      show(head, isMoving);
      place(head, scale(last + 1));
      showLabel(label, steps, scale);
      isDrawn = run.marks.length > 0;
      setAttributes(node, { 'aria-label': describe(run, steps), 'data-status': run.status });
    },
  };
}

function showLabel(label: HTMLElement, steps: readonly number[], scale: (sequence: number) => number): void {
  const last = steps.at(-1);
  show(label, last !== undefined);
  if (last === undefined) return;
  const at = scale(last - 0.5);
  setText(label, `resumed at ${stepsInWords(steps)}`);
  place(label, at);
  setAttributes(label, { 'data-side': at > 0.75 ? 'left' : at < 0.25 ? 'right' : 'middle' });
}

/** Everything but plain steps stays; of these as many as there is room for, the newest among them. */
function thinned(marks: readonly Mark[]): readonly Mark[] {
  const every = Math.ceil(marks.length / MARKS_LIMIT);
  if (every <= 1) return marks;
  return marks.filter(({ cause }, index) => cause !== 'step' || (marks.length - 1 - index) % every === 0);
}

function describe(run: Run, steps: readonly number[]): string {
  const resumed = steps.length === 0 ? '' : `, resumed at ${stepsInWords(steps)}`;
  return `Line of the thread: ${counted(run.marks.length, 'checkpoint')}${resumed}`;
}

function place(node: HTMLElement, at: number): void {
  const left = percent(at);
  if (node.style.left !== left) node.style.left = left;
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}
