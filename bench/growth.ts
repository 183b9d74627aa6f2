import { Appending, messageBytes } from './appending.ts';
import { type Figure, figure, median, together } from './figures.ts';
import { runLangGraph } from './langgraph.ts';

const bytesLimit = 2.0;
const stepLimit = 1.2;

interface GrowthSize {
  readonly short: number;
  readonly long: number;
  readonly withPeer: boolean;
}

/** P2: what a thread of steps of 1 KB stores, and what a late step costs beside an early one. */
export async function benchGrowth(
  { short, long, withPeer }: GrowthSize = { short: 1_000, long: 10_000, withPeer: true },
): Promise<Figure> {
  const small = new Appending();
  await small.run({ steps: short }); // what is compiled is compiled by now
  const peer = withPeer ? (await runLangGraph(short)).storedBytes : undefined;
  const large = new Appending();
  const early = await earlySteps(large, 'before');
  const bytesBefore = large.storedBytes();
  const late = stepTimes();
  await large.run({ steps: long, onStep: late.onStep });
  const bytes = large.storedBytes() - bytesBefore;
  early.push(...(await earlySteps(large, 'after')));
  const lateMs = late.ms.slice(-Math.min(300, Math.floor(long / 4)));
  return together({
    [`bytes of ${short} steps`]: figure(
      'stored bytes to raw bytes',
      'KB',
      small.storedBytes() / 1_024,
      ['raw', (short * messageBytes) / 1_024],
      bytesLimit,
      {
        ...(peer !== undefined && { langGraphKb: peer / 1_024, langGraphRatio: peer / (short * messageBytes) }),
      },
    ),
    [`bytes of ${long} steps`]: figure(
      'stored bytes to raw bytes',
      'KB',
      bytes / 1_024,
      ['raw', (long * messageBytes) / 1_024],
      bytesLimit,
    ),
    [`step ${long}`]: figure(
      `step ${long} beside step 10 (medians)`,
      'ms',
      median(lateMs),
      ['step 10', median(early)],
      stepLimit,
      {
        samples: [lateMs.length, early.length],
      },
    ),
  });
}

/** Steps 5 to 20 of short threads. */
async function earlySteps(database: Appending, name: string): Promise<number[]> {
  const samples: number[] = [];
  for (let thread = 0; thread < 15; thread += 1) {
    const times = stepTimes();
    await database.run({ steps: 22, onStep: times.onStep }, `${name} ${thread}`);
    samples.push(...times.ms.slice(4, 20));
  }
  return samples;
}

/** From the beginning of each step to that of the next. */
function stepTimes() {
  const ms: number[] = [];
  let before = Number.NaN;
  const onStep = () => {
    const now = performance.now();
    if (!Number.isNaN(before)) ms.push(now - before);
    before = now;
  };
  return { ms, onStep };
}
