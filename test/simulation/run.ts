/** Lives through one world and judges it. */
import { gather } from './oracles/evidence.ts';
import { oracles } from './oracles/oracles.ts';
import type { Violation } from './world/findings.ts';
import { World, type WorldOptions } from './world/world.ts';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly digest: string;
  readonly counts: World['counts'];
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
    }
  } catch (error) {
    findings.violate('evidence-is-readable', error instanceof Error ? error.message : String(error));
  } finally {
    Error.stackTraceLimit = traces;
  }
  const { violations, digest, lines = [] } = findings;
  return { violations, digest, counts: world.counts, steps, lines, status };
}
