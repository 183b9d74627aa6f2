import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { Frame } from '../model/frame.ts';
import type { RunEnd } from './run-end.ts';

/** What carries the text of an error, or data of a node. Tokens are masked where they are made; all else was stored, which no secret can be. */
const carriers: ReadonlySet<string> = new Set([
  'status',
  'effect',
  'retry',
  'blocked',
  'custom',
  'full',
] satisfies Frame['type'][]);

/** What leaves the engine, with a mask in the place of each secret that an error may have quoted. */
export function withoutSecrets<Leaving extends Frame | RunEnd>(
  leaving: Leaving,
  codec: ThreadCodec | undefined,
): Leaving {
  if (codec === undefined || ('type' in leaving && !carriers.has(leaving.type))) return leaving;
  return codec.secrets.masked(leaving);
}
