/** What the first checkpoint of a new lineage says (PROTOCOL 4). The ledger and what was spent belong to the thread, not to a lineage. */
import type { Random } from '../base/random.ts';
import { randomId } from '../base/random.ts';
import { type FieldImage, isLogImage, logLength } from '../codec/checkpoint-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage, ThreadImage } from '../codec/thread-image.ts';
import type { Control, Position } from '../model/checkpoint.ts';
import type { Abandoned, StandingChoice } from '../model/past.ts';
import { stepIdFor } from './identity.ts';

/** A fresh salt for the ids of a lineage's steps. */
export function newLineage(random: Random): string {
  return randomId(random, 16);
}

/** The target's position; its scheduled steps have ids of the new lineage, so that none is taken for one that ran before. */
export async function positionOn(
  codec: ThreadCodec,
  { position }: StateImage['checkpoint'],
  lineage: string,
  input: number,
): Promise<Position> {
  const next = position.next.map(async ({ node, path }) => {
    return { node, path, step: await stepIdFor(codec, { lineage, predecessor: position.step, node, path, input }) };
  });
  return { ...position, next: await Promise.all(next) };
}

/**
 * Run, branches and failure are the target's; ledger, consumed inbox, usage, failed attempts and resumes stay the thread's. A
 * tool stays granted only if it is in both: going back takes back what was granted since, and gives nothing that was not there.
 */
export function controlOn(
  { row, control: { ledgerDigest } }: ThreadImage,
  head: Control,
  { control, position }: StateImage['checkpoint'],
  past: { readonly lineage: string; readonly choices: readonly StandingChoice[] },
): Control {
  const isToRun = position.next.length > 0;
  return {
    ...control,
    status: isToRun ? 'running' : control.status,
    ledger: { count: row.ledger, digest: ledgerDigest, from: row.ledger },
    inboxTaken: head.inboxTaken,
    epoch: row.epoch,
    lineage: past.lineage,
    waits: [],
    grants: control.grants.filter((tool) => head.grants.includes(tool)),
    usage: head.usage,
    retries: head.retries,
    resumes: head.resumes,
    failure: isToRun ? null : control.failure,
    past: {
      abandoned: abandonedAfter(control, row.ledger),
      choices: past.choices,
      origin: head.past.origin,
    },
  };
}

function abandonedAfter({ past, ledger: { from } }: Control, to: number): readonly Abandoned[] {
  if (from === to) return past.abandoned;
  const last = past.abandoned.at(-1);
  if (last?.to !== from) return [...past.abandoned, { after: from, to }];
  return [...past.abandoned.slice(0, -1), { after: last.after, to }];
}

/**
 * The target's fields, with a fresh span at the end of each log: the lineage that is left has its own items behind the same
 * index under the old name.
 */
export function fieldsOn(target: StateImage, random: Random): ReadonlyMap<string, FieldImage> {
  const span = randomId(random, 6);
  return new Map(
    [...target.fields].map(([name, image]): readonly [string, FieldImage] => {
      if (!isLogImage(image)) return [name, image];
      const length = logLength(image);
      const spans = image.spans.filter(({ from, to }) => from < to);
      return [name, { spans: [...spans, { span, from: length, to: length }] }];
    }),
  );
}
