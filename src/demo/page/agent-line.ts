import { type AgentClient, connect } from 'holdfast';
import type { Screening } from '../screening.ts';

/** `gone`: the worker ended, and the next call starts another. */
export type LineState = 'starting' | 'open' | 'gone' | 'failed';

/** The page's one worker, and how it is. */
export class AgentLine {
  readonly agent: AgentClient<Screening>;
  readonly #workerUrl: string;
  readonly #workerName: string;
  readonly #onChange: () => void;
  #worker: Worker | undefined;
  #state: LineState = 'starting';
  #failure: unknown;

  constructor(workerUrl: string, workerName: string, onChange: () => void) {
    this.#workerUrl = workerUrl;
    this.#workerName = workerName;
    this.#onChange = onChange;
    this.agent = connect<Screening>(() => this.#startWorker(), { startTimeoutMs: 30_000 });
  }

  get state(): LineState {
    return this.#state;
  }

  get failure(): unknown {
    return this.#failure;
  }

  /** A message came: the worker lives. */
  heard(): void {
    this.#set('open', undefined);
  }

  failed(error: unknown): void {
    this.#set('failed', error);
  }

  /** Ends the worker in the middle of whatever it does. */
  killWorker(): void {
    this.#worker?.terminate();
    this.#set('gone', undefined);
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#workerUrl, { type: 'module', name: this.#workerName });
    if (this.#worker !== undefined) this.#set('gone', undefined);
    this.#worker = worker;
    return worker;
  }

  #set(state: LineState, failure: unknown): void {
    if (this.#state === state && this.#failure === failure) return;
    this.#state = state;
    this.#failure = failure;
    this.#onChange();
  }
}
