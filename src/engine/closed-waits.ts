/** What it takes to close the waits of a step that nobody goes on with (PROTOCOL 6). */
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import { readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait } from '../model/wait.ts';

export interface ClosedWaits {
  /** Those that are open are cancelled: nobody asks any more. An answer that comes in between refuses the commit. */
  readonly records: readonly RecordWrite[];
  /** Open ones that are for children: those are to stop. */
  readonly children: readonly Wait[];
  /** Orders of the inbox items that answered the others. */
  readonly taken: readonly number[];
}

export async function closedWaits(codec: ThreadCodec, ids: readonly WaitId[], nowMs: number): Promise<ClosedWaits> {
  const taken: number[] = [];
  const children: Wait[] = [];
  const records = ids.map(async (id) => {
    const answer = (await readAnswer(codec, id))?.answer;
    if (answer?.decision === 'arrived') taken.push(answer.order);
    const wait = answer === undefined ? await readWait(codec, id) : undefined;
    if (wait?.kind === 'child') children.push(wait);
    return wait && sealAnswer(codec, wait, { decision: 'cancelled' }, nowMs, new BlobBatch());
  });
  return { records: (await Promise.all(records)).filter((record) => record !== undefined), taken, children };
}
