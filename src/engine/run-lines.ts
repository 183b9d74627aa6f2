/**
 * The lines of one run that are under way: the main one, or those of its forks (B1). Starts each that can go on, and commits
 * how its step ended, one after the other.
 */
import { deferred } from '../base/deferred.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { readAnswer } from '../codec/wait-codec.ts';
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { WaitId } from '../model/ids.ts';
import { hiddenFields, type Line, parentOf } from '../model/lines.ts';
import { programErrors } from '../program/errors.ts';
import { nodeOf, type RunnableNode } from './agent-nodes.ts';
import type { RunBoundaries } from './boundaries.ts';
import type { Boundary } from './boundary.ts';
import { recordNodeFailure } from './ledger-writes.ts';
import { LineDraft, readFailures, readField } from './line-draft.ts';
import { openLines } from './line-status.ts';
import type { LineUpdates } from './line-updates.ts';
import { isBlocking, isFinal, Stop } from './run-end.ts';
import type { EndedStep, StepBoundaries } from './step-boundaries.ts';
import type { StepRun } from './step-run.ts';
import { type RunningStep, type StepEnd, startStep } from './step-runner.ts';
import type { ThreadState } from './thread-state.ts';
import type { WaitBoundaries } from './wait-boundaries.ts';

export interface RunLinesParts {
  readonly codec: ThreadCodec;
  readonly boundary: Boundary;
  readonly updates: LineUpdates;
  readonly runs: RunBoundaries;
  readonly steps: StepBoundaries;
  readonly waits: WaitBoundaries;
}

/** A line with a step that is to run: the main one has no record of its own. */
interface ReadyLine {
  readonly scheduled: ScheduledStep;
  readonly from: number;
  readonly waits: readonly WaitId[];
}

interface Running {
  readonly node: RunnableNode;
  readonly step: RunningStep;
  readonly state: ThreadState;
  readonly startedAtMs: number;
  ended: StepEnd | undefined;
}

export class RunLines {
  readonly #parts: RunLinesParts;
  readonly #running = new Map<string, Running>();
  /** Lines that were given up to wait, with the run that waits. */
  readonly #parked = new Map<string, StepRun>();
  #mayHaveNews = false;
  #woken = deferred<void>();

  constructor(parts: RunLinesParts) {
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Hands over what came for the steps under way, and lets the others look again. */
  async look(): Promise<void> {
    this.#mayHaveNews = true;
    await Promise.all([...this.#running.values()].map(({ step }) => step.run.waits.look()));
    this.#woken.resolve();
  }

  /** Starts every line that can go on, as far as its fork's limit allows. Whether any was. */
  async start(state: ThreadState, signal: AbortSignal): Promise<boolean> {
    const mayHaveNews = this.#mayHaveNews;
    this.#mayHaveNews = false;
    let isAny = false;
    for (const line of this.#standing()) {
      if (this.#isFull(line.scheduled.path) || !(await this.#canGoOn(line, mayHaveNews))) continue;
      await this.#startLine(line, state, signal);
      isAny = true;
    }
    return isAny;
  }

  /** Waits until a step has ended, or something came from outside; commits the ends. @throws what stops the thread */
  async ended(state: ThreadState): Promise<ThreadState> {
    this.#woken = deferred<void>();
    const ends = [...this.#running.values()];
    if (!ends.some(({ ended }) => ended !== undefined)) {
      await Promise.race([this.#woken.promise, ...ends.map(({ step }) => step.end)]);
    }
    let after = state;
    for (const [path, running] of [...this.#running]) {
      if (running.ended === undefined) continue;
      this.#running.delete(path);
      after = await this.#commit(path, running, running.ended, after);
      if (this.#parts.boundary.control.status === 'failed') return after;
    }
    return after;
  }

  /** Waits until no step is under way: they were told to stop. What they ended with goes nowhere. */
  async drain(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ step }) => step.end));
    this.#running.clear();
    this.#parked.clear();
  }

  /** Lines with a step that is not under way. */
  #standing(): readonly ReadyLine[] {
    const { boundary } = this.#parts;
    if (boundary.lines.forks.size > 0) {
      return openLines(boundary.lines)
        .filter(({ path }) => !this.#running.has(path))
        .map((line: Line) => ({
          scheduled: { node: line.node, step: line.step, path: line.path },
          from: line.from,
          waits: line.waits,
        }));
    }
    const [scheduled] = boundary.position.next;
    if (scheduled === undefined) throw new Error('A running thread has no next step.');
    if (this.#running.has(scheduled.path)) return [];
    const { ledger, waits } = boundary.control;
    return [{ scheduled, from: ledger.from, waits }];
  }

  #isFull(path: string): boolean {
    if (path === '') return false;
    const parent = parentOf(path).path;
    const limit = this.#parts.boundary.lines.forks.get(parent)?.limit ?? 1;
    return [...this.#running.keys()].filter((other) => other !== '' && parentOf(other).path === parent).length >= limit;
  }

  async #canGoOn({ scheduled, waits }: ReadyLine, mayHaveNews: boolean): Promise<boolean> {
    const parked = this.#parked.get(scheduled.path);
    if (parked !== undefined) return mayHaveNews && parked.waits.hasUnseenAnswer();
    if (waits.length === 0) return true;
    const answers = await Promise.all(waits.map((id) => readAnswer(this.#parts.codec, id)));
    return answers.some((answer) => answer !== undefined);
  }

  async #startLine({ scheduled, from }: ReadyLine, main: ThreadState, signal: AbortSignal): Promise<void> {
    const { boundary, updates, waits, codec } = this.#parts;
    const { ports, options, writer, emit } = boundary.parts;
    const { path } = scheduled;
    const node = nodeOf(options.agent, scheduled.node);
    const draft = new LineDraft(boundary.lines);
    const state = main.with(await updates.seenBy(path, draft));
    const fields = boundary.image.state?.fields ?? new Map();
    boundary.announce(node.name);
    emit({ type: 'running', node: node.name, step: scheduled.step });
    const startedAtMs = ports.clock.nowMs();
    const step = await startStep(
      {
        ports,
        agent: options.agent,
        model: options.model,
        writer,
        emit,
        item: path === '' ? undefined : await readField(codec, fields, hiddenFields.item(path)),
        failures: await readFailures(codec, fields, path),
        allow: (wait) => waits.answer(wait, { decision: 'allow' }),
        openWaits: (asked, records) => waits.open(node.name, path, asked, records),
      },
      node,
      scheduled,
      state,
      { from, grants: boundary.control.grants },
      signal,
    );
    const running: Running = { node, step, state, startedAtMs, ended: undefined };
    void step.end.then((end) => {
      running.ended = end;
    });
    this.#parked.delete(path);
    this.#running.set(path, running);
  }

  async #commit(path: string, running: Running, end: StepEnd, main: ThreadState): Promise<ThreadState> {
    const { boundary, steps } = this.#parts;
    const { node, step, state, startedAtMs } = running;
    const { run } = step;
    if (end.type === 'waiting') {
      await boundary.parts.writer.settled();
      this.#parked.set(path, run);
      this.#mayHaveNews = true; // an answer may have come while the node was being given up
      return main;
    }
    const stepMs = boundary.parts.ports.clock.nowMs() - startedAtMs;
    const ended: EndedStep = { node, run, main, state, stepMs };
    try {
      if (end.type === 'threw') throw end.error;
      return await steps.end(ended, end.result);
    } catch (error) {
      return this.#afterError(ended, error);
    }
  }

  /** A failed attempt of a node is tried again; when its attempts are spent, its line fails, and the main line the run. */
  async #afterError(ended: EndedStep, error: unknown): Promise<ThreadState> {
    const { node, run, main } = ended;
    if (error instanceof Stop) return main; // the loop carries it out
    if (isBlocking(error)) throw error;
    if (!isFinal(error)) {
      const attempt = run.ledger.nodeFailures.length + 1;
      const isSpent = attempt >= node.retry.attempts;
      await recordNodeFailure(run, node.name, attempt, error, isSpent);
      if (!isSpent) return main;
    }
    if (run.scheduled.path === '') return this.#parts.runs.failStep(main, run, error);
    return this.#parts.steps.failLine(ended, error);
  }

  /** Fails the run because it may take no further step. */
  async refuseMore(main: ThreadState): Promise<ThreadState> {
    const { boundary, runs } = this.#parts;
    const node = this.#standing()[0]?.scheduled.node ?? '';
    return runs.fail(main, programErrors.make('step_limit', { steps: boundary.control.run.steps, node }));
  }
}
