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
import { isSpent, timeLeft } from './limits.ts';
import { type Asked, LineDraft, readFailures, readField } from './line-draft.ts';
import { openLines } from './line-status.ts';
import type { LineUpdates } from './line-updates.ts';
import { isBlocking, isFinal, Stop, type StopReason } from './run-end.ts';
import type { EndedStep, StepBoundaries } from './step-boundaries.ts';
import type { StepPolicy, Verdict } from './step-policy.ts';
import type { StepRun, Tally } from './step-run.ts';
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
  readonly policy: StepPolicy;
  /** Makes the whole run stop, for this reason. */
  readonly stop: (why: StopReason) => void;
}

/** A line with a step that is to run: the main one has no record of its own. */
interface ReadyLine {
  readonly scheduled: ScheduledStep;
  readonly from: number;
  readonly waits: readonly WaitId[];
  /** What a person said about the failure of this step. */
  readonly verdict?: Verdict;
}

interface Running {
  readonly node: RunnableNode;
  readonly step: RunningStep;
  readonly state: ThreadState;
  readonly startedAtMs: number;
  readonly verdict: Verdict | undefined;
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

  /** The lines that can go on, as far as the limits of their forks allow. */
  async ready(): Promise<readonly ReadyLine[]> {
    const mayHaveNews = this.#mayHaveNews;
    this.#mayHaveNews = false;
    const ready: ReadyLine[] = [];
    const busy = new Map<string, number>();
    for (const path of this.#running.keys()) count(busy, path);
    for (const line of this.#standing()) {
      const { path } = line.scheduled;
      if (this.#isFull(path, busy) || !(await this.#canGoOn(line, mayHaveNews))) continue;
      const asked = (await this.#field(hiddenFields.asked(path))) as Asked | undefined;
      const verdict = asked && (await this.#parts.policy.verdict(asked));
      if (asked !== undefined && verdict === undefined) continue; // another wait of the step was answered, not this one
      count(busy, path);
      ready.push({ ...line, ...(verdict && { verdict }) });
    }
    return ready;
  }

  async start(lines: readonly ReadyLine[], state: ThreadState, signal: AbortSignal): Promise<void> {
    for (const line of lines) await this.#startLine(line, state, signal);
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
      this.#mayHaveNews = true; // what came for the others meanwhile, and whose hint was lost
      after = await this.#commit(path, running, running.ended, after);
      if (this.#parts.boundary.control.status === 'failed') return after;
    }
    return after;
  }

  /**
   * Waits until no step is under way: they were told to stop. What they ended with goes nowhere; the model use that they had
   * is given.
   */
  async drain(): Promise<Tally> {
    await Promise.all([...this.#running.values()].map(({ step }) => step.end));
    const used = this.#live();
    this.#running.clear();
    this.#parked.clear();
    return used;
  }

  /** Model use that no commit holds yet. */
  #live(): Tally {
    const total: Tally = { inputTokens: 0, outputTokens: 0, cost: 0 };
    for (const { step } of this.#running.values()) {
      total.inputTokens += step.run.tally.inputTokens;
      total.outputTokens += step.run.tally.outputTokens;
      total.cost += step.run.tally.cost;
    }
    return total;
  }

  /** Called before each model call. @throws Stop where the run has used what it may */
  #checkBudget(): void {
    const { inputTokens, outputTokens, cost } = this.#live();
    if (!isSpent(this.#parts.boundary.control, { tokens: inputTokens + outputTokens, cost })) return;
    this.#parts.stop('out_of_budget');
    throw new Stop('out_of_budget');
  }

  /** Milliseconds that are left of the run's time; 0 or less: it is over. */
  leftMs(): number {
    const { boundary } = this.#parts;
    const { agent } = boundary.parts.options;
    return timeLeft(agent, boundary.control, boundary.position, boundary.lines, boundary.elapsedMs());
  }

  /** Stops the run when its time is over while this step is under way. */
  #armDeadline(step: RunningStep): void {
    const leftMs = this.leftMs();
    if (leftMs === Infinity) return;
    const ended = new AbortController();
    void step.end.then(() => ended.abort('the step ended'));
    this.#parts.boundary.parts.ports.clock.sleep(leftMs, ended.signal).then(
      () => this.#parts.stop('timed_out'),
      () => undefined, // the step ended in time
    );
  }

  #field(name: string): Promise<unknown> {
    return readField(this.#parts.codec, this.#parts.boundary.image.state?.fields ?? new Map(), name);
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

  /** `busy`: lines under way, by the fork they belong to. */
  #isFull(path: string, busy: ReadonlyMap<string, number>): boolean {
    if (path === '') return false;
    const parent = parentOf(path).path;
    return (busy.get(parent) ?? 0) >= (this.#parts.boundary.lines.forks.get(parent)?.limit ?? 1);
  }

  async #canGoOn({ scheduled, waits }: ReadyLine, mayHaveNews: boolean): Promise<boolean> {
    const parked = this.#parked.get(scheduled.path);
    if (parked !== undefined) return mayHaveNews && parked.waits.hasUnseenAnswer();
    if (waits.length === 0) return true;
    const answers = await Promise.all(waits.map((id) => readAnswer(this.#parts.codec, id)));
    return answers.some((answer) => answer !== undefined);
  }

  async #startLine({ scheduled, from, verdict }: ReadyLine, main: ThreadState, signal: AbortSignal): Promise<void> {
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
        models: options.models ?? {},
        writer,
        emit,
        item: path === '' ? undefined : await readField(codec, fields, hiddenFields.item(path)),
        failures: await readFailures(codec, fields, path),
        hint: (await readField(codec, fields, hiddenFields.hint(path))) as string | undefined,
        isDecided: verdict !== undefined,
        checkBudget: () => this.#checkBudget(),
        allow: async (wait) => void (await waits.answer(wait, { decision: 'allow' })),
        openWaits: (asked, records) => waits.open(node.name, path, asked, records),
      },
      node,
      scheduled,
      state,
      { from, grants: boundary.control.grants },
      signal,
    );
    const running: Running = { node, step, state, startedAtMs, verdict, ended: undefined };
    void step.end.then((end) => {
      running.ended = end;
    });
    this.#parked.delete(path);
    this.#running.set(path, running);
    this.#armDeadline(step);
  }

  async #commit(path: string, running: Running, end: StepEnd, main: ThreadState): Promise<ThreadState> {
    const { boundary, steps, policy } = this.#parts;
    const { node, step, state, startedAtMs, verdict } = running;
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
      if (verdict?.say === 'retry') return await policy.retry(ended);
      if (verdict?.say === 'stop') return await this.#failed(ended, verdict.error);
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
    if (!isFinal(error) && run.ledger.spentBy === undefined) {
      const attempt = run.ledger.nodeFailures.length + 1;
      const isSpent = attempt >= node.retry.attempts;
      await recordNodeFailure(run, node.name, attempt, error, isSpent);
      if (!isSpent) return main;
    }
    const after = await this.#parts.policy.afterFailure(ended, error);
    return after ?? this.#failed(ended, error);
  }

  async #failed(ended: EndedStep, error: unknown): Promise<ThreadState> {
    const { run, main } = ended;
    if (run.scheduled.path === '') return this.#parts.runs.failStep(main, run, error);
    return this.#parts.steps.failLine(ended, error);
  }

  /** Fails the run because it may take no further step. */
  async refuseMore(main: ThreadState): Promise<ThreadState> {
    const { boundary, runs } = this.#parts;
    const node = this.#standing()[0]?.scheduled.node ?? '';
    // Lines stay as they are: the limit can be extended.
    await runs.fail(null, programErrors.make('step_limit', { steps: boundary.control.run.steps, node }));
    return main;
  }
}

function count(busy: Map<string, number>, path: string): void {
  if (path === '') return;
  const parent = parentOf(path).path;
  busy.set(parent, (busy.get(parent) ?? 0) + 1);
}
