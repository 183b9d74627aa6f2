import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright';
import { chromiumArguments, findChromium } from './find-browser.ts';

/** A profile that outlives the browsers started on it. */
export interface Profile {
  readonly folder: string;
  /** Starts a browser on this profile. */
  open(): Promise<OpenBrowser>;
  remove(): Promise<void>;
}

export interface OpenBrowser {
  readonly context: BrowserContext;
  /** SIGKILL to the whole process tree, as a crash of the machine's browser. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function newProfile(): Promise<Profile> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-profile-'));
  await mkdir(join(folder, 'tmp'));
  return {
    folder,
    open: () => open(folder),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}

async function open(folder: string): Promise<OpenBrowser> {
  const executablePath = findChromium();
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    args: [...chromiumArguments()],
    // What the browser leaves in the folder for temporary files goes with the profile, also after a kill.
    env: { ...process.env, TMPDIR: join(folder, 'tmp') },
    // Whoever started the browser ends it, and cleans up after it.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    ...(executablePath !== undefined && { executablePath }),
  });
  const closed = new Promise<void>((resolve) => context.once('close', () => resolve()));
  return {
    context,
    async kill() {
      for (const pid of await processesOf(folder)) killQuietly(pid);
      await closed;
      while ((await processesOf(folder)).length > 0) await new Promise((resolve) => setImmediate(resolve));
    },
    close: () => context.close(),
  };
}

/** The processes whose command line names this profile: the browser and its children. */
async function processesOf(folder: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''); // it ended meanwhile
      return command.includes(folder) ? [pid] : [];
    }),
  );
  const own = found.flat();
  return [...own, ...(await childrenOf(own))];
}

/** Children carry no profile in their command line (the zygote's, for one): found by their parent. */
async function childrenOf(parents: readonly number[]): Promise<readonly number[]> {
  if (parents.length === 0) return [];
  const lists = await Promise.all(
    parents.map((pid) => readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')),
  );
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  const fresh = children.filter((pid) => !parents.includes(pid));
  return [...fresh, ...(await childrenOf(fresh))];
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended meanwhile
  }
}
