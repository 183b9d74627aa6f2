/** What a policy waits for in the place of a step that failed. */
import { BlobBatch } from '../codec/thread-codec.ts';
import { readWait, sealWait } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { EffectKey } from '../model/ids.ts';
import type { Wait } from '../model/wait.ts';
import { waitIdFor } from './identity.ts';
import { encodeWithDigest, type StepRun } from './step-run.ts';

export async function policyWait(
  { writer: { codec }, ports, scheduled: { step } }: StepRun,
  place: string,
  asked: Pick<Wait, 'kind' | 'reason' | 'args'>,
): Promise<{ readonly wait: Wait; readonly records: readonly RecordWrite[] }> {
  const id = await waitIdFor(codec, step, place);
  const known = await readWait(codec, id);
  if (known !== undefined) return { wait: known, records: [] }; // asked before a repair
  const { digest } = await encodeWithDigest(codec, [asked.kind, asked.args, asked.reason], place);
  const about = { tool: '', effectKey: '' as EffectKey, expiresAtMs: null };
  const wait: Wait = { id, step, ...asked, ...about, digest, openedAtMs: ports.time.nowMs() };
  const blobs = new BlobBatch();
  const args = await codec.encodeValue(wait.args, 'args', blobs);
  return { wait, records: [await sealWait(codec, { ...wait, args }), ...blobs.writes()] };
}
