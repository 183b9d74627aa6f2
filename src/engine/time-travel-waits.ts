import { BlobBatch } from '../codec/thread-codec.ts';
import { readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { ThreadWriter } from './thread-writer.ts';
import type { TravelParts } from './time-travel-parts.ts';

/** Closes the waits that are open as cancelled: nobody of the lineage that is left asks any more. */
export async function closedWaits(
  { ports: { clock } }: TravelParts,
  writer: ThreadWriter,
): Promise<readonly RecordWrite[]> {
  const { codec, image } = writer;
  const records = (image.state?.checkpoint.control.waits ?? []).map(async (id) => {
    if ((await readAnswer(codec, id)) !== undefined) return undefined;
    const wait = await readWait(codec, id);
    return wait && sealAnswer(codec, wait, { decision: 'cancelled' }, clock.nowMs(), new BlobBatch());
  });
  return (await Promise.all(records)).filter((record) => record !== undefined);
}
