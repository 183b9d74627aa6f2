/**
 * A page's line to its worker. Comlink alone would leave calls hanging when the worker is gone (FIELD-NOTES 24): here every
 * call races against the worker's end, which shows in a lock that only a living worker holds.
 */
import { type Remote, wrap } from 'comlink';
import { type Deferred, deferred } from '../base/deferred.ts';
import { HoldfastError } from '../base/errors.ts';
import type { HostApi, Reply } from '../protocol/host-api.ts';
import { protocolVersion } from '../protocol/host-api.ts';
import { valueFrom } from '../protocol/reply.ts';

/** A worker, a function that makes one (then a lost worker is replaced), or a port to one that somebody else owns. */
export type WorkerSource = Worker | MessagePort | (() => Worker);

const wanted = 'Give it a Worker, a MessagePort, or a function that makes a Worker.';

/** A worker that ends within this time of its start is replaced after a pause that doubles each time. */
const steadyMs = 10_000;
const [firstPauseMs, longestPauseMs] = [100, 5_000];

export interface ConnectOptions {
  /** How long a worker may take to start: longer than it waits for a database that another tab holds. Default 30 s. */
  readonly startTimeoutMs?: number;
  /** How long a call may stay unanswered by a worker that lives. Default 30 s. */
  readonly callTimeoutMs?: number;
}

interface Line {
  readonly endpoint: Worker | MessagePort;
  readonly remote: Remote<HostApi>;
  /** Rejects when the worker is gone; never resolves. */
  readonly gone: Deferred<never>;
  /** Whether it has answered. */
  isStarted: boolean;
  isGone: boolean;
}

export class Connection {
  readonly #source: WorkerSource;
  readonly #startTimeoutMs: number;
  readonly #callTimeoutMs: number;
  readonly #closed = new AbortController();
  /** Aborted when nothing more is to be heard of the worker. */
  readonly #ended = new AbortController();
  #startedAtMs = 0;
  #pauseMs = 0;
  #worker: Worker | undefined;
  #line: Promise<Line> | undefined;

  constructor(source: WorkerSource, { startTimeoutMs = 30_000, callTimeoutMs = 30_000 }: ConnectOptions) {
    this.#source = source;
    this.#startTimeoutMs = startTimeoutMs;
    this.#callTimeoutMs = callTimeoutMs;
  }

  /** Starts the worker. What goes wrong comes back with the first call, which tries again. */
  start(): void {
    this.#open().catch(() => undefined); // the first call meets the same fault, or none any more
  }

  /** Whether a worker that is lost is replaced. */
  get canRestart(): boolean {
    return typeof this.#source === 'function' && !this.#closed.signal.aborted;
  }

  /**
   * Calls the worker.
   *
   * @throws `worker_gone`: it ended before it answered; whether the call was carried out is not known, and the same call
   * again is safe. `worker_silent`: it lives and does not answer. `worker_failed`: it did not start.
   */
  async call<Value>(make: (remote: Remote<HostApi>) => Promise<Reply<Value>>): Promise<Value> {
    const line = await this.#open();
    try {
      return valueFrom(await this.#within(line, make(line.remote)));
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'DataCloneError') throw error;
      const message = `Cannot send this to the worker: ${error.message} Send plain data, and files as File. Nothing was kept.`;
      throw new HoldfastError('value_not_storable', message, { reason: error.message }, { cause: error });
    }
  }

  /** Resolves when the present worker is gone. */
  async whenGone(): Promise<void> {
    const line = await this.#line?.catch(() => undefined); // it never started: there is nothing to wait for
    await line?.gone.promise.catch(() => undefined); // its end is what is waited for
  }

  /** Stops the runs, gives their leases back and ends the worker. What a cut-off call came to is settled later. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    const line = await this.#line?.catch(() => undefined); // it never started: there is nothing to end
    if (line !== undefined && !line.isGone) {
      const closed: Promise<Reply<void>> = line.remote.close();
      await this.#within(line, closed).catch(() => undefined); // gone or silent: there is nothing to wait for
      this.#end(line, gone('this page closed it'));
    }
    this.#worker?.terminate();
    this.#ended.abort();
  }

  #open(): Promise<Line> {
    if (this.#closed.signal.aborted) return Promise.reject(gone('this page closed it'));
    this.#line ??= this.#start();
    return this.#line;
  }

  async #start(): Promise<Line> {
    if (this.#pauseMs > 0) await this.#pause(this.#pauseMs);
    try {
      return await this.#startNow();
    } catch (error) {
      this.#line = undefined;
      throw error;
    }
  }

  /** Ends early when the connection is closed. */
  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, durationMs);
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#closed.signal.addEventListener('abort', end, { once: true });
    });
  }

  /** Starts workers until one answers. */
  async #replace(): Promise<void> {
    while (this.canRestart) {
      try {
        await this.#open();
        return;
      } catch {
        this.#pauseMs = nextPause(this.#pauseMs); // callers hear of it through their own calls
      }
    }
  }

  async #startNow(): Promise<Line> {
    if (this.#closed.signal.aborted) throw gone('this page closed it');
    const endpoint = typeof this.#source === 'function' ? this.#source() : this.#source;
    if (typeof endpoint?.postMessage !== 'function') throw failed(`connect(…) was given none. ${wanted}`);
    this.#startedAtMs = performance.now();
    this.#worker = endpoint instanceof MessagePort ? undefined : endpoint;
    const remote = wrap<HostApi>(endpoint);
    const line: Line = { endpoint, remote, gone: deferred<never>(), isStarted: false, isGone: false };
    line.gone.promise.catch(() => undefined); // calls hear of it through their own race
    endpoint.addEventListener('messageerror', () => this.#end(line, gone('a message could not be read')));
    endpoint.addEventListener('error', (event) => {
      if (!line.isStarted) this.#end(line, failed((event as ErrorEvent).message || 'its script could not be loaded.'));
    });
    try {
      const hello = valueFrom(
        await withTimeout(Promise.race([line.remote.hello(), line.gone.promise]), this.#startTimeoutMs, () =>
          failed(`it did not answer within ${this.#startTimeoutMs} ms. Does its file call serve(…), before any await?`),
        ),
      );
      if (hello.protocol !== protocolVersion) {
        throw failed(`it speaks protocol ${hello.protocol}, this page ${protocolVersion}. Reload the page.`);
      }
      line.isStarted = true;
      this.#watchLife(line, hello.lifeLock);
      return line;
    } catch (error) {
      if (typeof this.#source === 'function') this.#worker?.terminate(); // the next call makes another
      throw error;
    }
  }

  /** The lock is free only when the worker is gone: terminated, crashed, or closed. */
  #watchLife(line: Line, lock: string): void {
    navigator.locks
      .request(lock, { mode: 'shared', signal: this.#ended.signal }, () =>
        this.#end(line, gone('it was terminated or crashed')),
      )
      .catch(() => undefined); // closed by this page
  }

  #end(line: Line, error: Error): void {
    if (line.isGone) return;
    line.isGone = true;
    line.gone.reject(error);
    if (!line.isStarted || !this.canRestart) return; // one that never started fails its call, and the next call tries again
    if (line.endpoint instanceof Worker) line.endpoint.terminate(); // one that is only out of reach must not run on
    const isSteady = performance.now() - this.#startedAtMs > steadyMs;
    this.#pauseMs = isSteady ? 0 : nextPause(this.#pauseMs);
    this.#line = undefined;
    void this.#replace(); // its threads go on, also if the page asks for nothing
  }

  #within<Value>(line: Line, answer: Promise<Value>): Promise<Value> {
    return withTimeout(Promise.race([answer, line.gone.promise]), this.#callTimeoutMs, () => {
      const message = `The worker did not answer within ${this.#callTimeoutMs} ms. It may be busy or frozen; the same call again is safe.`;
      return new HoldfastError('worker_silent', message, { afterMs: this.#callTimeoutMs });
    });
  }
}

function nextPause(pauseMs: number): number {
  return Math.min(longestPauseMs, Math.max(firstPauseMs, 2 * pauseMs));
}

async function withTimeout<Value>(work: Promise<Value>, limitMs: number, error: () => Error): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error()), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function gone(reason: string): Error {
  const message = `The worker is gone: ${reason}. What it had acknowledged is kept; connect again to go on.`;
  return new HoldfastError('worker_gone', message, { reason });
}

function failed(reason: string): Error {
  return new HoldfastError('worker_failed', `The worker did not start: ${reason}`, { reason });
}
