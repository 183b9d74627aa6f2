/** Starts the processes in which worlds are lived through. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Figures, Order, Told } from './figures.ts';

export interface PartOrder extends Order {
  readonly replays: boolean;
}

/**
 * Resolves once the process has ended.
 *
 * @param program the compiled `simulate-part.ts`.
 * @throws where it ends before it is done, or is stopped.
 */
export async function runPart(
  program: string,
  order: PartOrder,
  hear: (told: Exclude<Told, { figures: Figures }>) => void,
  stopped?: AbortSignal,
): Promise<Figures> {
  stopped?.throwIfAborted();
  const child = fork(program, [JSON.stringify(order)], {
    // Many short-lived worlds, and a process for each core: one thread collects what they leave.
    execArgv: ['--single-threaded-gc', '--max-semi-space-size=64'],
  });
  stopped?.addEventListener('abort', () => child.kill());
  const ended = once(child, 'exit');
  let figures: Figures | undefined;
  child.on('message', (all: readonly Told[]) => {
    for (const told of all) {
      if ('figures' in told) figures = told.figures;
      else hear(told);
    }
  });
  const [code] = await ended;
  stopped?.throwIfAborted();
  if (figures === undefined) throw new Error(`Process ${order.part} of ${order.parts} ended with ${code} too early.`);
  return figures;
}
