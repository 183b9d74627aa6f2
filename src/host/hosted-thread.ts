/** One thread in a worker: runs it under its lock, wakes it, and streams it to whoever watches. */
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import { type ErrorData, errorToData } from '../base/errors.ts';
import type { EngineThread } from '../engine/engine-thread.ts';
import type { RunEnd } from '../engine/run-end.ts';
import type { Frame } from '../model/frame.ts';
import type { StreamMessage, ThreadView } from '../protocol/host-api.ts';
import { Compactions } from './housekeeping.ts';
import type { Locks } from './ports.ts';
import { readView } from './read-view.ts';
import { hasInput, hasWork } from './row-work.ts';
import { ThreadStream } from './thread-stream.ts';

/** How long a thread rests before its next try: one that is blocked, and one whose lease another runner took. */
const restMs: Partial<Record<RunEnd['end'], number>> = { blocked: 30_000, lost: 1_000 };

/** A lock that is not there after this time is held by a worker that runs the thread. */
const lockWaitMs = 1_000;

/** What was due and is not done is looked at again after this time. */
const overdueMs = 1_000;

export interface HostedThreadParts {
  readonly thread: EngineThread;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly database: string;
  /** Whether a thread that another worker ran goes on here by itself when that one is gone. */
  readonly takesOver: boolean;
  /** Whether what retention lets go is taken away after a run. */
  readonly compacts: boolean;
  /** Tells other workers that something changed. */
  readonly hint: (hash: string) => void;
  /** What another worker did not finish goes on here: it may be gone, and have left more. */
  readonly tookOver: () => void;
}

export class HostedThread {
  readonly #parts: HostedThreadParts;
  readonly #closing = new AbortController();
  readonly #stream: ThreadStream;
  #isDriving = false;
  #wantsMore = false;
  #driven: Promise<void> = Promise.resolve();
  #alarm = new AbortController();
  #blocked: ErrorData | null = null;
  #isRunningHere = false;
  /** Called when a step was committed. */
  #onCommit: (() => void) | undefined;
  /** Waiting for the lock: what is to be done is looked up once it is there. */
  #isQueued = false;
  /** Epoch of the row when a hint made this worker queue; `undefined` where it was asked to run. */
  #queuedAt: number | undefined;
  /** Epoch of the row when it was blocked here. */
  #blockedAt: number | undefined;
  readonly #compactions: Compactions | undefined;

  constructor(parts: HostedThreadParts) {
    this.#parts = parts;
    this.#compactions = parts.compacts ? new Compactions(parts.thread) : undefined;
    this.#stream = new ThreadStream(
      () => this.view(),
      () => this.#isRunningHere,
    );
  }

  get engineThread(): EngineThread {
    return this.#parts.thread;
  }

  /** Sees to it that the thread runs if it has anything to do, now or when its lock is free. */
  kick(): void {
    if (this.#closing.signal.aborted) return;
    this.#wantsMore = true;
    this.#queuedAt = undefined;
    if (this.#isDriving) {
      void this.#parts.thread.look().catch(() => undefined); // the run meets the same fault itself, and reports it
      return;
    }
    this.#queue();
  }

  /** Runs it, and resolves once it has committed something, has nothing more to do, or another worker holds its lock. */
  async proveItself(): Promise<void> {
    const proof = deferred<void>();
    this.#onCommit = proof.resolve;
    this.kick();
    const driven = this.#driven;
    const looked = new AbortController();
    const elsewhere = this.#parts.clock.sleep(lockWaitMs, looked.signal).then(
      () => (this.#isQueued ? undefined : Promise.race([proof.promise, driven])),
      () => undefined, // it was proved before
    );
    await Promise.race([proof.promise, driven, elsewhere]);
    looked.abort();
  }

  #queue(): void {
    if (this.#closing.signal.aborted || this.#isQueued) return;
    this.#wantsMore = true;
    if (this.#isDriving) return;
    this.#isDriving = true;
    this.#driven = this.#drive();
  }

  /**
   * Another worker changed something: look, and show the watchers what is new. Where the thread runs elsewhere, this worker
   * queues for its lock: it gets it when the other is gone, however that happens.
   */
  async hinted(): Promise<void> {
    await this.#parts.thread.look();
    if (this.#isRunningHere) return;
    const row = await this.#parts.thread.row();
    if (row?.epoch.local !== this.#blockedAt) this.#blocked = null; // somebody got on with it
    if (this.#parts.takesOver && row !== undefined && hasWork(row)) {
      if (!this.#isDriving) this.#queuedAt = row.epoch.local;
      this.#queue();
    }
    await this.#stream.showView();
  }

  /**
   * Whether nobody has done what this worker queued for. Of a thread that waits, and was run and released since, every answer
   * was seen: a run that was cut off is counted in its row, and one that was stopped has set its time to wake.
   */
  async #isNeeded(): Promise<boolean> {
    if (this.#queuedAt === undefined) return true;
    const { thread, clock } = this.#parts;
    const row = await thread.row();
    if (row === undefined || !hasWork(row)) return false;
    const isDue = row.wakeUpAtMs !== null && row.wakeUpAtMs <= clock.nowMs();
    return row.status !== 'waiting' || hasInput(row) || isDue || row.resumes > 0 || row.epoch.local === this.#queuedAt;
  }

  watch(deliver: (message: StreamMessage) => void): Promise<() => void> {
    return this.#stream.watch(deliver);
  }

  onFrame(frame: Frame): void {
    if (frame.type === 'blocked') this.#blocked = frame.error;
    if (frame.type === 'running') this.#blocked = null;
    if (frame.type === 'full') {
      this.#blocked = frame.error;
      void this.#stream.showView().catch(() => undefined); // the next view shows it
    }
    this.#stream.showFrame(frame);
    if (frame.type === 'step') this.#onCommit?.();
    if (frame.type === 'step' || frame.type === 'status' || frame.type === 'answered') this.hint();
    // Its time may be over before the run is: the other waits of its step, and calls beside it, may take long.
    if (frame.type === 'wait' || frame.type === 'answered') void this.#setAlarm().catch(() => undefined); // the run's end sets it again
  }

  view(): Promise<ThreadView> {
    return readView(this.#parts.thread, this.#blocked);
  }

  /** Stops the run at the next possible point and waits until it has. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The worker is closing.'));
    this.#alarm.abort();
    this.#parts.thread.stop();
    await this.#driven;
  }

  async #drive(): Promise<void> {
    const { locks, database, thread } = this.#parts;
    let end: RunEnd | undefined;
    try {
      while (this.#wantsMore && !this.#closing.signal.aborted) {
        this.#wantsMore = false;
        const name = `holdfast:${database}:${await thread.hash()}`;
        this.#isQueued = true;
        await locks.hold(name, this.#closing.signal, async () => {
          this.#isQueued = false;
          if (this.#closing.signal.aborted || !(await this.#isNeeded())) return; // the lock may come in the same moment
          if (this.#queuedAt !== undefined) this.#parts.tookOver();
          await this.#compact();
          if (this.#closing.signal.aborted) return; // `close` found no run that it could stop
          this.#isRunningHere = true;
          end = await thread.run();
          this.#isRunningHere = false;
          this.#stream.rested();
          await this.#compact();
          // A row that cannot be read is no further trouble than the one that is shown.
          this.#blockedAt =
            end.end === 'blocked' ? (await thread.row().catch(() => undefined))?.epoch.local : undefined;
        });
        if (this.#blocked !== null && end?.end !== 'blocked') {
          this.#blocked = null;
          await this.#stream.showView();
        }
      }
      await this.#setAlarm(end);
    } catch (reason) {
      if (this.#closing.signal.aborted) return;
      const error = errorToData(reason);
      this.onFrame({ type: 'blocked', error });
      await this.#setAlarm({ end: 'blocked', error });
    } finally {
      this.#isQueued = false;
      this.#isDriving = false;
      if (this.#wantsMore) this.kick();
    }
  }

  /** What cannot be compacted now is left as it is: a fault is met, and told, by the next run. */
  async #compact(): Promise<void> {
    if (!this.#closing.signal.aborted) await this.#compactions?.look().catch(() => undefined);
  }

  /** The thread is gone: whoever watches sees it. */
  async purged(): Promise<void> {
    await this.#stream.showView();
  }

  /**
   * Wakes the thread when a wait of it expires, as long as this worker lives: nothing wakes a page that is closed (PROTOCOL 8). One
   * that could not go on tries again later, since a store may recover.
   */
  async #setAlarm(end?: RunEnd, leastMs = 1): Promise<void> {
    this.#alarm.abort();
    const alarm = new AbortController();
    this.#alarm = alarm;
    const { clock, thread } = this.#parts;
    const rest = end && restMs[end.end];
    const wakeUpAtMs = rest === undefined ? ((await thread.row())?.wakeUpAtMs ?? null) : clock.nowMs() + rest;
    if (wakeUpAtMs === null || this.#closing.signal.aborted || alarm.signal.aborted) return;
    clock.sleep(Math.max(leastMs, wakeUpAtMs - clock.nowMs()), alarm.signal).then(
      () => this.#wake(),
      () => undefined, // set anew, or closing
    );
  }

  /** A run that is under way goes on: there may be another wait that expires before its end. */
  #wake(): void {
    if (!this.#isDriving) {
      this.kick();
      return;
    }
    const looked = this.#parts.thread.look().catch(() => undefined); // the run meets the same fault itself, and reports it
    void looked.then(() => this.#setAlarm(undefined, overdueMs)).catch(() => undefined); // the run's end sets it again
  }

  /** Tells other workers that something changed: one of them may run the thread, or show it. */
  hint(): void {
    void this.#parts.thread
      .hash()
      .then(this.#parts.hint)
      .catch(() => undefined); // only a hint
  }
}
