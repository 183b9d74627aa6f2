/**
 * The lines of one run that are under way: the main one, or those of its forks (B1). Starts each that can go on, and commits
 * how its step ended, one after the other.
 */
import { deferred } from '../base/deferred.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { readAnswer } from '../codec/wait-codec.ts';
import { hiddenFields } from '../model/lines.ts';
import { nodeOf, type RunnableNode } from './agent-nodes.ts';
import type { RunBoundaries } from './boundaries.ts';
import type { Boundary } from './boundary.ts';
import { DeadlineTimer } from './deadline-timer.ts';
import type { EndedStep } from './ended-step.ts';
import { isSpent, timeLeft } from './limits.ts';
import { type Asked, LineDraft, readFailures, readField } from './line-draft.ts';
import type { LineUpdates } from './line-updates.ts';
import { LineUse } from './line-use.ts';
import { onDemand } from './load-on-demand.ts';
import { isBlocking, isFinal, Stop, type StopReason } from './run-end.ts';
import { ForkPlaces, type ReadyLine, standingLines } from './standing-lines.ts';
import type { StepBoundaries } from './step-boundaries.ts';
import type { StepPolicy, Verdict } from './step-policy.ts';
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
  /** What is done about failures. */
  readonly policy: () => Promise<StepPolicy>;
  /** Makes the whole run stop, for this reason. */
  readonly stop: (why: StopReason) => void;
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
  readonly #deadline: DeadlineTimer;
  readonly #use: LineUse;
  #mayHaveNews = false;
  #woken = deferred<void>();

  constructor(parts: RunLinesParts) {
    const { boundary, stop } = parts;
    const { clock } = boundary.parts.ports;
    this.#parts = parts;
    this.#deadline = new DeadlineTimer({ clock, leftMs: () => this.leftMs(), onOver: () => stop('timed_out') });
    this.#use = new LineUse(boundary);
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
    const places = new ForkPlaces(this.#parts.boundary.lines);
    for (const path of this.#running.keys()) places.take(path);
    for (const line of this.#standing()) {
      const { path } = line.scheduled;
      if (places.isFull(path) || !(await this.#canGoOn(line, mayHaveNews))) continue;
      const asked = (await this.#field(hiddenFields.asked(path))) as Asked | undefined;
      const verdict = asked && (await (await this.#parts.policy()).verdict(asked));
      if (asked !== undefined && verdict === undefined) continue; // another wait of the step was answered, not this one
      places.take(path);
      ready.push({ ...line, ...(verdict && { verdict }) });
    }
    return ready;
  }

  async start(lines: readonly ReadyLine[], state: ThreadState, signal: AbortSignal): Promise<void> {
    await this.#use.read();
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
      this.#use.keep(running.step.run);
      this.#running.delete(path);
      if (this.isIdle) this.#deadline.clear();
      this.#mayHaveNews = true; // what came for the others meanwhile, and whose hint was lost
      after = await this.#commit(path, running, running.ended, after);
      if (this.#parts.boundary.control.status === 'failed') return after;
    }
    return after;
  }

  /**
   * Waits until no step is under way: they were told to stop. What they ended with goes nowhere.
   */
  async drain(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ step }) => step.end));
    for (const { step } of this.#running.values()) this.#use.keep(step.run);
    this.#deadline.clear();
    this.#running.clear();
    this.#parked.clear();
  }

  /** Called before each model call. @throws Stop where the run has used what it may */
  #checkBudget(): void {
    const underWay = [...this.#running.values()].map(({ step }) => step.run);
    const { inputTokens, outputTokens, cost } = this.#use.total(underWay);
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

  #field(name: string): Promise<unknown> {
    return readField(this.#parts.codec, this.#parts.boundary.image.state?.fields ?? new Map(), name);
  }

  #standing(): readonly ReadyLine[] {
    return standingLines(this.#parts.boundary, (path) => this.#running.has(path));
  }

  async #canGoOn({ scheduled, waits }: ReadyLine, mayHaveNews: boolean): Promise<boolean> {
    const parked = this.#parked.get(scheduled.path);
    if (parked !== undefined) return mayHaveNews && parked.waits.hasUnseenAnswer();
    if (waits.length === 0) return true;
    const answers = await Promise.all(waits.map((id) => readAnswer(this.#parts.codec, id)));
    return answers.some((answer) => answer !== undefined);
  }

  async #startLine(
    { scheduled, from, waits: known, verdict }: ReadyLine,
    main: ThreadState,
    signal: AbortSignal,
  ): Promise<void> {
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
        openWaits: (asked, records, check) =>
          waits.open(node.name, path, asked, records, () => {
            check();
            return { control: {}, events: [] };
          }),
      },
      node,
      scheduled,
      state,
      { from, waits: known, grants: boundary.control.grants },
      signal,
    );
    const running: Running = { node, step, state, startedAtMs, verdict, ended: undefined };
    void step.end.then((end) => {
      running.ended = end;
    });
    this.#parked.delete(path);
    this.#running.set(path, running);
    this.#deadline.set();
  }

  async #commit(path: string, running: Running, end: StepEnd, main: ThreadState): Promise<ThreadState> {
    const { boundary } = this.#parts;
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
    const after = await this.#committed(ended, end, verdict).catch((error) => this.#afterError(ended, error));
    if (after !== undefined) this.#use.counted(run);
    return after ?? main;
  }

  async #committed(
    ended: EndedStep,
    end: Exclude<StepEnd, { type: 'waiting' }>,
    verdict: Verdict | undefined,
  ): Promise<ThreadState> {
    if (end.type === 'threw') throw end.error;
    if (verdict === undefined) return this.#parts.steps.end(ended, end.result);
    const policy = await this.#parts.policy();
    if (verdict.say === 'retry') return (await policy.retry(ended)) ?? (await this.#afterPolicy(ended, verdict.error));
    const after = verdict.say === 'skip' ? await policy.skip(ended) : undefined;
    return after ?? (await this.#failed(ended, verdict.error));
  }

  /**
   * A failed attempt of a node is tried again; when its attempts are spent, its line fails, and the main line the run. `undefined`
   * where nothing was committed: the step stands.
   */
  async #afterError(ended: EndedStep, error: unknown): Promise<ThreadState | undefined> {
    const { node, run } = ended;
    if (error instanceof Stop) return undefined; // the loop carries it out
    if (isBlocking(error)) throw error;
    if (!isFinal(error) && run.ledger.spentBy === undefined) {
      const attempt = run.ledger.nodeFailures.length + 1;
      const isSpent = attempt >= node.retry.attempts;
      const { recordNodeFailure } = await onDemand();
      await recordNodeFailure(run, node.name, attempt, error, isSpent);
      if (!isSpent) return undefined;
    }
    return this.#afterPolicy(ended, error);
  }

  async #afterPolicy(ended: EndedStep, error: unknown): Promise<ThreadState> {
    return (await (await this.#parts.policy()).afterFailure(ended, error)) ?? this.#failed(ended, error);
  }

  async #failed(ended: EndedStep, error: unknown): Promise<ThreadState> {
    const { run, main } = ended;
    if (run.scheduled.path === '') return (await this.#parts.runs.ends()).failStep(main, run, error);
    return this.#parts.steps.failLine(ended, error);
  }

  /** Fails the run because it may take no further step. */
  async refuseMore(main: ThreadState, ready: readonly ReadyLine[]): Promise<ThreadState> {
    const ends = await this.#parts.runs.ends();
    const [refused] = [...ready, ...this.#standing()];
    await ends.failAtLimit(refused?.scheduled.node ?? '');
    return main;
  }
}
