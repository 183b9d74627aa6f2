import { errorFamily } from '../base/errors.ts';

export interface ProtocolErrorDetails {
  /** `argument`: from 1; 0 for the id of the thread that the call is for. */
  call_invalid: { method: string; argument: number; wanted: string };
  served_twice: { agent: string };
}

export const protocolErrors = errorFamily<ProtocolErrorDetails>({
  call_invalid: (d) =>
    `${d.argument === 0 ? 'The thread' : `Argument ${d.argument}`} of the call "${d.method}" is not ${d.wanted}. Nothing was done.`,
  served_twice: (d) =>
    `This worker serves an agent already; "${d.agent}" is not served. Call \`serve\` once. If you do, the worker's file ran twice: start it by the URL that the build gave it, without ? or #, and tell it what it needs by its name.`,
});
