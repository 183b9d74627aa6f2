import type { Frame } from '../model/frame.ts';
import type { StreamMessage, ThreadView } from '../protocol/host-api.ts';
import { isLive, RunningSteps } from './running-steps.ts';

type Watcher = (message: StreamMessage) => void;

/** What the pages of this worker see of one thread: a view first, then frames of a run here, or views of one elsewhere. */
export class ThreadStream {
  readonly #readView: () => Promise<ThreadView>;
  readonly #isRunningHere: () => boolean;
  readonly #watchers = new Set<Watcher>();
  readonly #running = new RunningSteps();
  #frames = 0;
  #isShowing = false;
  #isViewOld = false;

  constructor(readView: () => Promise<ThreadView>, isRunningHere: () => boolean) {
    this.#readView = readView;
    this.#isRunningHere = isRunningHere;
  }

  /**
   * The view first, then what the steps under way have told so far, then every frame; nothing in between is lost, nothing comes
   * twice. Returns how to stop.
   */
  async watch(deliver: Watcher): Promise<() => void> {
    const early: StreamMessage[] = [];
    let take: Watcher = (message) => {
      early.push(message);
    };
    const watcher: Watcher = (message) => take(message);
    const stop = () => this.#watchers.delete(watcher);
    this.#watchers.add(watcher);
    try {
      const view = await this.#readView();
      deliver({ type: 'view', view });
      const newest = view.steps.at(-1)?.sequence ?? -1;
      const isNews = (message: StreamMessage) =>
        message.type === 'step' ? message.step.sequence > newest : !isLive(message);
      for (const message of early.filter(isNews)) deliver(message);
      for (const message of this.#running.missed()) deliver(message);
    } catch (error) {
      stop();
      throw error;
    }
    take = deliver;
    return stop;
  }

  showFrame(frame: Frame): void {
    this.#frames += 1;
    this.#running.keep(frame);
    for (const watcher of this.#watchers) watcher(frame);
  }

  /** The run here has ended, or waits with nothing under way. */
  rested(): void {
    this.#running.clear();
  }

  /** Shows the thread as it is, one view at a time; none after frames of a run here that began meanwhile. */
  async showView(): Promise<void> {
    this.#isViewOld = true;
    if (this.#isShowing) return;
    this.#isShowing = true;
    try {
      while (this.#isViewOld && this.#watchers.size > 0) {
        this.#isViewOld = false;
        const before = this.#frames;
        const view = await this.#readView();
        if (before === this.#frames) for (const watcher of this.#watchers) watcher({ type: 'view', view });
        else if (!this.#isRunningHere()) this.#isViewOld = true;
      }
    } finally {
      this.#isShowing = false;
    }
  }
}
