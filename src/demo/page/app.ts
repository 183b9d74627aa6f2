import type { EffectInfo } from 'holdfast';
import { AgentLine } from './agent-line.ts';
import { announcer } from './announcer.ts';
import { Coalesced } from './coalesced.ts';
import { detailsView } from './details-view.ts';
import { EarlierThreads } from './earlier-threads.ts';
import { type Part, replaceChildren } from './element.ts';
import { frameLayout } from './frame-layout.ts';
import { newsOf } from './news.ts';
import { expectedEnd } from './progress.ts';
import { emptyRun, type Run } from './run.ts';
import { type RunShown, runView, titleOf } from './run-view.ts';
import { saveStatus } from './save-status.ts';
import { Session } from './session.ts';
import { type ScreeningInput, startView } from './start-view.ts';
import { threadList } from './thread-list.ts';

/** The whole page: which thread is shown follows the hash of the address. */
export class App {
  readonly #line: AgentLine;
  readonly #earlier: EarlierThreads;
  readonly #announcer = announcer();
  readonly #save = saveStatus();
  readonly #threads = threadList();
  readonly #details = detailsView({ reload: () => location.reload(), killWorker: () => this.#line.killWorker() });
  readonly #frame = frameLayout(this.#save.node, this.#threads.node, this.#details.node);
  readonly #readEffects = new Coalesced(() => this.#readEffectsNow());
  #session: Session | null = null;
  #run: Part<RunShown> | null = null;
  #effects: readonly EffectInfo[] = [];
  #seen: Run = emptyRun;
  #isDrawing = false;

  constructor(workerUrl: string, workerName: string) {
    this.#line = new AgentLine(workerUrl, workerName, () => this.#changed());
    this.#earlier = new EarlierThreads(this.#line.agent, () => this.#changed());
    document.body.append(this.#frame.node, this.#announcer.node);
    addEventListener('hashchange', () => this.#open());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#earlier.refresh();
    });
    this.#earlier.refresh();
    this.#open();
  }

  #open(): void {
    const id = idInHash();
    if (this.#session !== null && this.#session.thread.id === id) return;
    this.#session?.stop();
    this.#session = null;
    this.#run = null;
    this.#effects = [];
    this.#seen = emptyRun;
    this.#frame.closeSheets();
    if (id === null) {
      replaceChildren(
        this.#frame.main,
        startView((input) => this.#start(input)),
      );
    } else {
      this.#session = new Session(this.#line, id, () => this.#changed());
      this.#run = this.#newRunView();
      replaceChildren(this.#frame.main, this.#run.node);
    }
    this.#changed();
  }

  #newRunView(): Part<RunShown> {
    return runView({
      stop: () => void this.#ask((session) => session.thread.cancel()),
      goOn: () => void this.#ask((session) => session.thread.send({})),
      tryAgain: () => this.#session?.retry(),
      reload: () => location.reload(),
      answer: async (_wait, give) => {
        const session = this.#session;
        await session?.save(give);
        session?.lookAgain();
      },
    });
  }

  /** Durable once it resolves; only then the address names the thread. */
  async #start({ jobFile, files }: ScreeningInput): Promise<void> {
    const id = `screening-${crypto.randomUUID()}`;
    await this.#line.agent.thread(id).send({ jobFile, files: [...files] }, { dedupId: 'start' });
    location.hash = id;
    this.#earlier.refresh();
  }

  async #ask(call: (session: Session) => Promise<void>): Promise<void> {
    const session = this.#session;
    await session?.save(() => call(session)).catch((error: unknown) => this.#announcer.atOnce(String(error)));
  }

  async #readEffectsNow(): Promise<void> {
    const session = this.#session;
    if (session === null) return;
    const effects = await session.thread.effects();
    if (session !== this.#session) return;
    this.#effects = effects;
    this.#changed();
  }

  /** Draws once a frame at most; at once where no frames come, in a hidden tab. */
  #changed(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    const draw = (): void => {
      this.#isDrawing = false;
      this.#draw();
    };
    if (document.hidden) setTimeout(draw);
    else requestAnimationFrame(draw);
  }

  #draw(): void {
    const session = this.#session;
    const run = session?.run ?? emptyRun;
    const state = session?.state ?? null;
    this.#tell(run);
    this.#save.update({ session, line: this.#line.state });
    if (session !== null) this.#run?.update({ session, line: this.#line });
    this.#details.update({ run, state, effects: this.#effects, isWorkerOpen: this.#line.state === 'open' });
    const title = state === null ? null : titleOf(state);
    const current = session && { id: session.thread.id, title, run, end: expectedEnd(run, state) };
    this.#threads.update(this.#earlier.shown(current));
    document.title = titleFor(run, title);
  }

  /** Says what is new, and reads what the stream does not carry. */
  #tell(run: Run): void {
    const before = this.#seen;
    if (run === before) return;
    this.#seen = run;
    const { polite, atOnce } = newsOf(before, run, this.#session?.state ?? null);
    if (polite !== undefined) this.#announcer.politely(polite);
    if (atOnce !== undefined) this.#announcer.atOnce(atOnce);
    if (run.status !== before.status) this.#earlier.refresh();
    const isActing = run.node === 'invite' || run.node === 'report';
    if (run.status !== before.status || (isActing && run.marks.length !== before.marks.length)) this.#readEffects.ask();
  }
}

function idInHash(): string | null {
  try {
    const id = decodeURIComponent(location.hash.slice(1));
    return id === '' || id === 'main' ? null : id;
  } catch {
    return null;
  }
}

function titleFor({ status, waits }: Run, title: string | null): string {
  const name = `${title ?? 'Application screening'} · Holdfast`;
  if (waits.length > 0 && status === 'waiting') return `(${waits.length}) Waiting for you · ${name}`;
  return status === 'running' ? `▸ ${name}` : name;
}
