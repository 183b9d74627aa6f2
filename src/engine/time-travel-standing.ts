/** The steps that stand at a checkpoint: that of the main line, or those of the lines of its forks. They run anew. */
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { Control } from '../model/checkpoint.ts';
import type { StepId } from '../model/ids.ts';
import type { Lines } from '../model/lines.ts';
import { stepIdFor } from './identity.ts';
import { LineDraft, readLines } from './line-draft.ts';
import { openLines } from './line-status.ts';

export interface Standing {
  readonly lines: Lines;
  readonly steps: ReadonlySet<StepId>;
  /** Entries of these steps come after this number; after the ledger's `count`, all entries are later than the checkpoint. */
  readonly from: number;
  readonly ledger: Control['ledger'];
}

export async function standingAt(codec: ThreadCodec, { checkpoint, fields }: StateImage): Promise<Standing> {
  const lines = await readLines(codec, fields);
  const open = openLines(lines);
  const { from, count } = checkpoint.control.ledger;
  return {
    lines,
    steps: new Set([...checkpoint.position.next, ...open].map(({ step }) => step)),
    from: Math.min(from, count, ...open.map((line) => line.from)),
    ledger: checkpoint.control.ledger,
  };
}

/**
 * Whether a ledger entry is passed over by going back: it is later than the checkpoint, of a step that runs anew, or of one that
 * a repair had let run again.
 */
export function isPassedOver(
  { steps, ledger }: Pick<Standing, 'steps' | 'ledger'>,
  entry: { readonly number: number; readonly step: StepId },
): boolean {
  return entry.number > ledger.count || steps.has(entry.step) || awaitsReplay(ledger, entry);
}

/** Whether this entry is of a step that a repair lets run again, and that has not yet: it gets back what is on record. */
export function awaitsReplay(
  { replay }: Control['ledger'],
  { number, step }: { readonly number: number; readonly step: StepId },
): boolean {
  return replay !== null && number > replay.after && number <= replay.to && !replay.done.includes(step);
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
