/**
 * All that running a thread takes: the second file of a worker, which loads once a thread is to be run, or soon after the start. Who
 * only shows a thread waits for none of it. Nobody imports this file but `load-on-demand.ts` and `on-demand.ts`.
 */
export { ThreadRunner } from './thread-runner.ts';
