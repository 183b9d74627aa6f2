/** Lives through one world and judges it. */
import { gather } from './oracles/evidence.ts';
import { judgeFamily } from './oracles/family.ts';
import { judgeForks } from './oracles/forks.ts';
import { oracles } from './oracles/oracles.ts';
import type { Violation } from './world/findings.ts';
import type { ToMeet } from './world/met.ts';
import { World, type WorldOptions } from './world/world.ts';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly digest: string;
  readonly counts: World['counts'];
  /** What of PROTOCOL 10 came to pass. */
  readonly met: Partial<Record<ToMeet, number>>;
  /** Committed checkpoints. */
  readonly steps: number;
  readonly lines: readonly string[];
  readonly status: string | undefined;
}

export async function run(options: WorldOptions): Promise<Verdict> {
  const world = new World(options);
  const { findings } = world;
  const traces = Error.stackTraceLimit;
  Error.stackTraceLimit = 0; // stacks are stored with errors: they cost time, and differ from run to run
  let status: string | undefined;
  let steps = 0;
  try {
    await world.live();
    const evidence = await gather(world);
    status = evidence?.row.status;
    steps = evidence?.lineage.length ?? 0;
    if (evidence === undefined) {
      if (world.client.acknowledged.size > 0 && world.counts.deletions === 0)
        findings.violate('acknowledged-is-durable', 'No thread is left.');
    } else {
      for (const judge of Object.values(oracles)) await judge(evidence, options.actions);
      await judgeFamily(evidence);
    }
    await judgeForks(world, evidence, options.actions);
  } catch (error) {
    findings.violate('evidence-is-readable', error instanceof Error ? error.message : String(error));
  } finally {
    Error.stackTraceLimit = traces;
  }
  const { violations, digest, lines = [] } = findings;
  meetLast(world);
  return { violations, digest, counts: world.counts, met: world.met.counts, steps, lines, status };
}

/** What shows at the end. */
function meetLast({ met, outside, counts, watch, watches, data }: World): void {
  if (watches.forks.length > 0) met.add('a thread that is forked');
  if (outside.saidOtherwise > 0) met.add('another answer of the model on a second call');
  if (counts.deletions > 0 && data.threads.size > 0) met.add('a thread that is deleted and made again');
  const causes = new Set([...watch.seen.values()].map(({ cause }) => cause));
  if (causes.has('edited')) met.add('a state that is edited');
  if (causes.has('rolled_back')) met.add('a thread that is taken back');
}
