import { errorFamily } from '../base/errors.ts';

export interface ProtocolErrorDetails {
  call_invalid: { method: string; argument: number; wanted: string };
}

export const protocolErrors = errorFamily<ProtocolErrorDetails>({
  call_invalid: (d) => `Argument ${d.argument} of the call "${d.method}" is not ${d.wanted}. Nothing was done.`,
});
