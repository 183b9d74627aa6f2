import type { CheckpointInfo, Frame, StepSummary, StreamMessage, ThreadStatus, ThreadView, Wait } from 'holdfast';

type Failure = NonNullable<ThreadView['failure']>;

/** One checkpoint on the line. `resumes` is not known of one that came live. */
export interface Mark extends StepSummary {
  readonly resumes: number | null;
}

/** What the page knows of a thread, from its stream. Immutable. */
export interface Run {
  /** Whether the first view has come. */
  readonly isLoaded: boolean;
  readonly status: ThreadStatus;
  readonly failure: Failure | null;
  readonly blocked: Failure | null;
  readonly waits: readonly Wait[];
  /** By sequence, oldest first. */
  readonly marks: readonly Mark[];
  /** Steps at which a run went on after a reload, a crash or a lost worker. */
  readonly notches: ReadonlySet<number>;
  /** The node that runs, as far as the stream said. */
  readonly node: string | null;
  /** What the model wrote so far in this step. */
  readonly streamed: string;
  readonly attempt: number;
  readonly retry: Extract<Frame, { type: 'retry' }> | null;
}

export const emptyRun: Run = {
  isLoaded: false,
  status: 'idle',
  failure: null,
  blocked: null,
  waits: [],
  marks: [],
  notches: new Set(),
  node: null,
  streamed: '',
  attempt: 0,
  retry: null,
};

export function afterMessage(run: Run, message: StreamMessage): Run {
  switch (message.type) {
    case 'view':
      return afterView(run, message.view);
    case 'status': {
      const isOver = message.status !== 'running' && message.status !== 'waiting';
      const rest = message.status === 'running' ? {} : { node: null, ...quiet, ...(isOver && { waits: [] }) };
      return { ...run, ...rest, status: message.status, failure: message.failure };
    }
    case 'step':
      return {
        ...run,
        ...quiet,
        node: message.step.next,
        blocked: null,
        marks: merged(run.marks, [{ ...message.step, resumes: null }]),
        waits: message.step.cause === 'wait' ? run.waits : [],
      };
    case 'resumed':
      if (run.marks.at(-1)?.cause === 'wait') return run; // it goes on after an answer
      return { ...run, notches: new Set([...run.notches, message.sequence + 1]) };
    case 'restart':
      return { ...run, streamed: '' };
    case 'running':
      return { ...run, ...quiet, node: message.node, blocked: null };
    case 'token': {
      const isNew = message.attempt !== run.attempt;
      return { ...run, attempt: message.attempt, streamed: (isNew ? '' : run.streamed) + message.text };
    }
    case 'retry':
      return { ...run, retry: message };
    case 'wait':
      return { ...run, waits: [...run.waits.filter(({ id }) => id !== message.wait.id), message.wait] };
    case 'answered':
      return { ...run, waits: run.waits.filter(({ id }) => id !== message.wait) };
    case 'blocked':
      return { ...run, blocked: message.error };
    default:
      return run;
  }
}

/** Adds what checkpoints tell that the stream does not: how often the thread had been resumed. */
export function withCheckpoints(run: Run, checkpoints: readonly CheckpointInfo[]): Run {
  const known = new Map(run.marks.map((mark) => [mark.sequence, mark]));
  const marks = merged(
    run.marks,
    checkpoints.map((checkpoint) => ({
      ...(known.get(checkpoint.sequence) ?? markOf(checkpoint)),
      resumes: checkpoint.control.resumes,
    })),
  );
  const notches = new Set(run.notches);
  for (const [index, mark] of marks.entries()) {
    const before = marks[index - 1];
    if (before === undefined || before.cause === 'wait' || before.resumes === null || mark.resumes === null) continue;
    if (mark.resumes > before.resumes) notches.add(before.sequence + 1);
  }
  return { ...run, marks, notches };
}

const quiet = { streamed: '', attempt: 0, retry: null } as const;

function afterView(run: Run, view: ThreadView): Run {
  const { status, failure, blocked, waits } = view;
  const known = new Map(run.marks.map((mark) => [mark.sequence, mark]));
  const steps = view.steps.map((step) => known.get(step.sequence) ?? { ...step, resumes: null });
  const marks = merged(run.marks, steps);
  const node = status === 'running' || status === 'waiting' ? (marks.at(-1)?.next ?? run.node) : null;
  return { ...run, ...quiet, isLoaded: true, status, failure, blocked, waits, marks, node };
}

function markOf({ id, sequence, kind, cause, position, atMs }: CheckpointInfo): Mark {
  const next = position.next[0]?.node ?? null;
  const node = cause === 'step' ? position.node : cause === 'input' ? null : (next ?? position.node);
  const { step } = position;
  return { checkpoint: id, sequence, kind, cause, node, next, step, atMs, stepMs: 0, commitMs: 0, resumes: null };
}

function merged(marks: readonly Mark[], more: readonly Mark[]): readonly Mark[] {
  const bySequence = new Map([...marks, ...more].map((mark) => [mark.sequence, mark]));
  return [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
}
