import type { AgentClient, ThreadSummary } from 'holdfast';
import type { Screening } from '../screening.ts';
import { Coalesced } from './coalesced.ts';
import { expectedEnd } from './progress.ts';
import { emptyRun, type Run, withCheckpoints } from './run.ts';
import type { ListedThread, ThreadsShown } from './thread-list.ts';

/** Of so many threads the title and the line are read; older ones are listed without. */
const READ_LIMIT = 40;

interface Read {
  readonly updatedAtMs: number;
  readonly title: string | null;
  readonly run: Run;
  readonly end: number;
}

/** The screenings of this browser, newest first, read again when asked. */
export class EarlierThreads {
  readonly #agent: AgentClient<Screening>;
  readonly #onChange: () => void;
  readonly #refresh: Coalesced;
  readonly #read = new Map<string, Read>();
  #summaries: readonly ThreadSummary[] = [];
  #isLoading = true;
  #problem: string | null = null;

  constructor(agent: AgentClient<Screening>, onChange: () => void) {
    this.#agent = agent;
    this.#onChange = onChange;
    this.#refresh = new Coalesced(() => this.#refreshNow());
  }

  refresh(): void {
    this.#refresh.ask();
  }

  /** `current` is followed live: what the page knows of it is newer than what was read. */
  shown(current: Pick<ListedThread, 'id' | 'title' | 'run' | 'end'> | null): ThreadsShown {
    const threads = this.#summaries.flatMap((summary): ListedThread[] => {
      if (summary.id === null) return [];
      const isCurrent = summary.id === current?.id;
      const read = isCurrent && current.run?.isLoaded ? current : this.#read.get(summary.id);
      const { title = null, run = null, end = 1 } = read ?? {};
      return [{ id: summary.id, summary, title, run, end, isCurrent }];
    });
    const unreadable = this.#summaries.filter(({ id }) => id === null);
    return { threads, unreadable, isLoading: this.#isLoading, problem: this.#problem };
  }

  async #refreshNow(): Promise<void> {
    try {
      this.#summaries = byCreation(await this.#agent.threads());
      this.#problem = null;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
    this.#isLoading = false;
    this.#onChange();
    for (const summary of this.#summaries.slice(0, READ_LIMIT)) await this.#readOne(summary);
  }

  async #readOne({ id, updatedAtMs, status }: ThreadSummary): Promise<void> {
    if (id === null || this.#read.get(id)?.updatedAtMs === updatedAtMs) return;
    const thread = this.#agent.thread(id);
    const checkpoints = await thread.checkpoints({ limit: 1_000 });
    if (checkpoints.length === 0) return;
    const run = withCheckpoints({ ...emptyRun, status }, checkpoints);
    const state = await thread.state();
    const title = state.job?.title ?? state.jobFile?.name ?? null;
    this.#read.set(id, { updatedAtMs, title, run, end: expectedEnd(run, state) });
    this.#onChange();
  }
}

/** Newest first; the order does not change while threads run. */
function byCreation(summaries: readonly ThreadSummary[]): readonly ThreadSummary[] {
  return [...summaries].sort((a, b) => b.createdAtMs - a.createdAtMs);
}
