import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the project, with a slash at its end. */
export const top = fileURLToPath(new URL('../..', import.meta.url));

interface ChildResult {
  /** Exit status; 130 where a signal ended the child. */
  readonly status: number;
  /** All it printed, if it was asked to be quiet. */
  readonly output: string;
}

const graceMs = 8_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Tells the commands of this project below that a process group around them is being looked after. */
const groupMark = 'HOLDFAST_IN_GROUP';

/**
 * Runs a program of the project (node_modules/.bin comes first on the PATH) in a process group that ends with this
 * process: a signal goes on to the whole group, and what has not gone after eight seconds is killed.
 */
export function runChild(program: string, args: readonly string[], quiet = false): Promise<ChildResult> {
  const ownsGroup = process.env[groupMark] === undefined;
  const path = `${top}node_modules/.bin${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(program, args, {
    cwd: top,
    detached: ownsGroup,
    env: { ...process.env, PATH: path, [groupMark]: '1' },
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => output.push(text));

  let interrupted = false;
  const signalGroup = (signal: NodeJS.Signals): void => {
    if (!ownsGroup || child.pid === undefined) return; // whoever owns the group signals all of it
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  const pass = (signal: NodeJS.Signals): void => {
    if (interrupted) return; // one Ctrl-C can arrive twice: from the terminal and from the parent
    interrupted = true;
    signalGroup(signal);
    setTimeout(() => signalGroup('SIGKILL'), graceMs).unref();
  };
  for (const signal of signals) process.on(signal, pass);

  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      for (const signal of signals) process.off(signal, pass);
      if (interrupted) {
        signalGroup('SIGKILL');
        process.exit(130);
      }
      resolve({ status: status ?? 130, output: output.join('') });
    });
  });
}
