/** The steps that stand at a checkpoint: that of the main line, or those of the lines of its forks. They run anew. */
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { StepId } from '../model/ids.ts';
import type { Lines } from '../model/lines.ts';
import { stepIdFor } from './identity.ts';
import { LineDraft, readLines } from './line-draft.ts';
import { openLines } from './line-status.ts';

export interface Standing {
  readonly lines: Lines;
  readonly steps: ReadonlySet<StepId>;
  /** Entries of these steps come after this number; after `count`, all entries are later than the checkpoint. */
  readonly from: number;
  readonly count: number;
}

export async function standingAt(codec: ThreadCodec, { checkpoint, fields }: StateImage): Promise<Standing> {
  const lines = await readLines(codec, fields);
  const open = openLines(lines);
  const { from, count } = checkpoint.control.ledger;
  return {
    lines,
    steps: new Set([...checkpoint.position.next, ...open].map(({ step }) => step)),
    from: Math.min(from, count, ...open.map((line) => line.from)),
    count,
  };
}

/** Whether a ledger entry is passed over by going back: it is later than the checkpoint, or of a step that runs anew. */
export function isPassedOver({ steps, count }: Standing, entry: { readonly number: number; readonly step: StepId }) {
  return entry.number > count || steps.has(entry.step);
}

/** The hidden fields of the lines that run their step anew, under ids of the new lineage. */
export async function linesOn(
  codec: ThreadCodec,
  { lines }: Standing,
  fresh: { readonly lineage: string; readonly input: number; readonly from: number; readonly sinceMs: number },
): Promise<ReadonlyMap<string, unknown>> {
  const { lineage, input, from, sinceMs } = fresh;
  const draft = new LineDraft(lines);
  for (const line of openLines(lines)) {
    const { node, path, step: predecessor } = line;
    const step = await stepIdFor(codec, { lineage, predecessor, node, path, input });
    draft.putLine({ ...line, step, from, sinceMs, waits: [] });
  }
  return draft.set;
}
