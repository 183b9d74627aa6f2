import type { PageState, PageWait, ThreadClient } from 'holdfast';
import type { Screening } from '../screening.ts';
import type { AgentLine } from './agent-line.ts';
import { Coalesced } from './coalesced.ts';
import { afterMessage, emptyRun, type Run, withCheckpoints } from './run.ts';

export type ScreeningState = PageState<Screening>;
export type ScreeningWait = PageWait<Screening>;
export type FileOutcome = ScreeningState['outcomes']['tail'][number];

/** All that the line shows: a run of 200 files has some 800 checkpoints. */
const CHECKPOINTS_LIMIT = 2_000;
const RETRY_MS = 1_000;

/** One thread as the page follows it: its stream, and what is read when the stream says that it changed. */
export class Session {
  readonly thread: ThreadClient<Screening>;
  run: Run = emptyRun;
  state: ScreeningState | null = null;
  waits: readonly ScreeningWait[] = [];
  /** By the number of the file. The state tells the newest hundred; what was seen before is kept. */
  readonly outcomes = new Map<number, FileOutcome>();
  /** Calls of the page that are not acknowledged yet. */
  saving = 0;
  readonly #line: AgentLine;
  readonly #onChange: () => void;
  readonly #stopped = new AbortController();
  readonly #readState: Coalesced;
  readonly #readWaits: Coalesced;
  #needsCheckpoints = true;

  constructor(line: AgentLine, id: string, onChange: () => void) {
    this.#line = line;
    this.#onChange = onChange;
    this.thread = line.agent.thread(id);
    this.#readState = new Coalesced(() => this.#readStateNow());
    this.#readWaits = new Coalesced(() => this.#readWaitsNow());
    void this.#follow();
  }

  /** Starts again after the worker had failed to start. */
  retry(): void {
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Runs a call of the page and shows meanwhile that it is not saved yet. */
  async save<Value>(call: () => Promise<Value>): Promise<Value> {
    this.saving += 1;
    this.#onChange();
    try {
      return await call();
    } finally {
      this.saving -= 1;
      this.#onChange();
    }
  }

  /** Reads what waits again: an answer was refused, since somebody else was first. */
  lookAgain(): void {
    this.#readWaits.ask();
  }

  async #follow(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        for await (const message of this.thread.events()) {
          if (this.#stopped.signal.aborted) return;
          this.#line.heard();
          this.run = afterMessage(this.run, message);
          if (message.type === 'view') {
            this.#needsCheckpoints = true;
            this.#readState.ask();
            this.#readWaits.ask();
          } else if (message.type === 'step') this.#readState.ask();
          else if (message.type === 'wait' || message.type === 'answered' || message.type === 'status')
            this.#readWaits.ask();
          this.#onChange();
        }
        return; // this page closed the connection
      } catch (error) {
        if (!isGone(error)) return this.#line.failed(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #readStateNow(): Promise<void> {
    const isKnown = this.run.marks.length > 0;
    if (!isKnown) return;
    const seen = this.run.marks.at(-1);
    // The first step after a view tells by its checkpoint whether it had been resumed.
    const limit = this.#needsCheckpoints ? CHECKPOINTS_LIMIT : seen?.resumes === null ? 4 : 0;
    const checkpoints = limit === 0 ? [] : await this.thread.checkpoints({ limit });
    this.run = withCheckpoints(this.run, checkpoints);
    this.#needsCheckpoints = false;
    this.state = await this.thread.state();
    const { length, tail } = this.state.outcomes;
    for (const [index, outcome] of tail.entries()) this.outcomes.set(length - tail.length + index, outcome);
    this.#onChange();
  }

  async #readWaitsNow(): Promise<void> {
    this.waits = this.run.isLoaded ? await this.thread.waits() : [];
    this.#onChange();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'worker_gone';
}
