import type { Mark, Run } from './run.ts';
import type { FileOutcome, ScreeningState } from './session.ts';

export const fileSteps = ['read', 'extract', 'match', 'assess'] as const;
export type FileStep = (typeof fileSteps)[number];

/** Steps of a run beside those of the files: job, rank, choose, invite, report, and the wait for approval. */
const OTHER_STEPS = 6;

/** One file, and how far it came. `step` is the one under way. */
export interface FileProgress {
  readonly index: number;
  readonly name: string;
  readonly sizeBytes: number;
  readonly phase: 'queued' | 'working' | 'finished';
  readonly step: FileStep | null;
  readonly outcome: FileOutcome | null;
}

/** Whether the step that ended here was the last one of its file. */
export function endsFile({ cause, node, next }: Mark): boolean {
  return cause === 'step' && (node === 'assess' || (node === 'read' && next !== 'extract'));
}

/** How many files have their outcome. Counted on the line, which is never behind the state. */
export function filesFinished(run: Run): number {
  return run.marks.filter(endsFile).length;
}

export function filesOf(
  run: Run,
  state: ScreeningState | null,
  outcomes: ReadonlyMap<number, FileOutcome>,
): readonly FileProgress[] {
  if (state === null) return [];
  const finished = filesFinished(run);
  const isRunning = run.status === 'running' && run.blocked === null;
  const step = fileSteps.find((name) => name === run.node) ?? null;
  return state.files.map(({ name, sizeBytes }, index) => {
    const phase =
      index < finished ? 'finished' : index === finished && isRunning && step !== null ? 'working' : 'queued';
    const outcome = phase === 'finished' ? (outcomes.get(index) ?? null) : null;
    return { index, name, sizeBytes, phase, step: phase === 'working' ? step : null, outcome };
  });
}

/** The sequence number at which the line ends, as far as can be told now. */
export function expectedEnd(run: Run, state: ScreeningState | null): number {
  const last = run.marks.at(-1);
  if (last === undefined) return 1;
  if (run.status === 'done') return last.sequence;
  if (state === null) return last.sequence + OTHER_STEPS;
  const left = state.files.length - filesFinished(run);
  if (left === 0) return last.sequence + Math.max(1, tail.length - tail.indexOf(run.node ?? 'report'));
  const inHand = Math.max(0, fileSteps.indexOf(run.node as FileStep));
  return last.sequence + left * fileSteps.length - inHand + OTHER_STEPS - (last.sequence === 0 ? 0 : 1);
}

const tail = ['rank', 'choose', 'invite', 'report'];
