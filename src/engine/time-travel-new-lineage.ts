/** What the first checkpoint of a new lineage says (PROTOCOL 4). Ledger, inbox and what was spent belong to the thread. */
import type { Random } from '../base/random.ts';
import { randomId } from '../base/random.ts';
import { type FieldImage, isLogImage, logLength } from '../codec/checkpoint-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage, ThreadImage } from '../codec/thread-image.ts';
import type { Control, Position } from '../model/checkpoint.ts';
import { withSettled } from '../model/inbox.ts';
import type { EntryRange, StandingChoice } from '../model/past.ts';
import { rangesWith } from '../model/past-entries.ts';
import { usedAfter } from './ended-step.ts';
import { stepIdFor } from './identity.ts';
import type { Tally } from './step-run.ts';

/** A fresh salt for the ids of a lineage's steps: they get new ones, and run again (PROTOCOL 4). */
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
 * Run, time, branches and failure are the target's; ledger, consumed inbox, usage, failed attempts and resumes stay the thread's, and
 * so do budget and limits within one run. A
 * tool stays granted only if it is in both: going back takes back what was granted since, and gives nothing that was not there.
 */
export function controlOn(
  { row, control: { ledgerDigest } }: ThreadImage,
  head: Control,
  { control }: StateImage['checkpoint'],
  fresh: {
    readonly lineage: string;
    readonly choices: readonly StandingChoice[];
    /** Numbers of the ledger entries that are left. */
    readonly left: readonly number[];
    readonly undecided: readonly EntryRange[];
    /** Orders of the events that the steps which are left had taken: they stay taken, as all of the inbox does. */
    readonly taken: readonly number[];
    /** What the steps that stand at the head have used: no commit holds it yet. */
    readonly used: Tally;
    readonly isToRun: boolean;
    readonly believedMs: number;
  },
): Control {
  const { isToRun } = fresh;
  const isSameRun = control.run.input === head.run.input;
  const { usage, spent } = usedAfter(head, fresh.used);
  return {
    ...control,
    status: isToRun ? 'running' : control.status,
    ledger: { count: row.ledger, digest: ledgerDigest, from: row.ledger, replay: null },
    ...withSettled(head, fresh.taken),
    inboxReplay: head.inboxReplay,
    epoch: row.epoch,
    lineage: fresh.lineage,
    waits: [],
    grants: control.grants.filter((tool) => head.grants.includes(tool)),
    usage,
    retries: head.retries,
    resumes: head.resumes,
    limits: isSameRun ? head.limits : control.limits,
    spent: { ...(isSameRun ? spent : control.spent), ms: control.spent.ms },
    stepFromMs: control.spent.ms,
    seenAtMs: Math.max(head.seenAtMs, fresh.believedMs),
    failure: isToRun ? null : control.failure,
    past: {
      abandoned: rangesWith(control.past.abandoned, fresh.left),
      undecided: fresh.undecided,
      choices: fresh.choices,
      origin: head.past.origin,
    },
  };
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
