import { element, keyedList, type Part, setAttributes, setText, show } from './element.ts';
import { icon } from './icons.ts';
import { type FileProgress, fileSteps } from './progress.ts';
import { readableJson } from './readable-json.ts';
import type { FileOutcome } from './session.ts';
import { doingWords, sizeInWords } from './words.ts';

/** A longer list scrolls by itself, and follows the file in hand. */
const LONG = 30;

export interface FilesShown {
  readonly files: readonly FileProgress[];
  /** What the model writes at the moment. */
  readonly streamed: string;
  readonly retry: string | null;
}

/** The files of a run with what is being done to each: four marks on a line of its own, as on the thread's. */
export function fileList(): Part<FilesShown> {
  const list = element('ol', { class: 'files', 'aria-label': 'Files' });
  let followed = -1;
  let shown: FilesShown = { files: [], streamed: '', retry: null };
  const updateRows = keyedList<FileProgress>(
    list,
    ({ index }) => String(index),
    () => fileRow(() => shown),
  );
  return {
    node: list,
    update(next) {
      shown = next;
      updateRows(next.files);
      setAttributes(list, { 'data-long': next.files.length > LONG, tabindex: next.files.length > LONG ? '0' : null });
      const inHand = next.files.findIndex(({ phase }) => phase === 'working');
      if (next.files.length > LONG && inHand !== followed && inHand >= 0) follow(list, inHand);
      followed = inHand;
    },
  };
}

/** Not while somebody looks at another part of it. */
function follow(list: HTMLElement, index: number): void {
  const row = list.children[index];
  if (!(row instanceof HTMLElement) || list.matches(':hover, :focus')) return;
  list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2;
}

function fileRow(shown: () => FilesShown): Part<FileProgress> {
  const name = element('span', { class: 'file-name' });
  const steps = fileSteps.map(() => element('span', { class: 'file-step' }));
  const line = element('span', { class: 'file-line', 'aria-hidden': 'true' }, ...steps);
  const words = element('span', { class: 'file-words' });
  const message = element('p', { class: 'file-message' });
  const stream = element('pre', { class: 'file-stream', 'aria-hidden': 'true' });
  const node = element('li', { class: 'file' }, icon('file'), name, line, words, message, stream);
  return {
    node,
    update(file) {
      const { streamed, retry } = shown();
      setAttributes(node, { 'data-phase': phaseOf(file) });
      setText(name, file.name);
      setAttributes(name, { title: `${file.name}, ${sizeInWords(file.sizeBytes)}` });
      const done = file.phase === 'finished' ? stepsOf(file) : file.step === null ? 0 : fileSteps.indexOf(file.step);
      for (const [index, step] of steps.entries()) setAttributes(step, { 'data-done': index < done });
      setText(words, wordsFor(file));
      const note = file.outcome?.kind === 'unreadable' ? file.outcome.message : file.phase === 'working' ? retry : null;
      show(message, note !== null);
      setText(message, note ?? '');
      const text = file.phase === 'working' ? lastLines(readableJson(streamed)) : '';
      show(stream, text !== '');
      setText(stream, text);
    },
  };
}

function phaseOf({ phase, outcome }: FileProgress): string {
  return outcome?.kind === 'unreadable' ? 'unreadable' : phase;
}

function stepsOf({ outcome }: FileProgress): number {
  return outcome?.kind === 'unreadable' ? 0 : fileSteps.length;
}

function wordsFor({ phase, step, outcome }: FileProgress): string {
  if (phase === 'queued') return 'Waiting';
  if (phase === 'working') return `${doingWords(step)} …`;
  return outcome === null ? 'Assessed' : outcomeWords(outcome);
}

function outcomeWords(outcome: FileOutcome): string {
  return outcome.kind === 'unreadable' ? 'Cannot be read' : `${outcome.assessment.score} of 100`;
}

function lastLines(text: string): string {
  return text.split('\n').slice(-4).join('\n');
}
