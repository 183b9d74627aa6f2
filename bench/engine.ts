import { Appending } from './appending.ts';
import { type Figure, figure, median } from './figures.ts';
import { runLangGraph } from './langgraph.ts';

/** P5: at least 20 times as many steps. */
const limit = 1 / 20;

/** Sealed steps of 1 KB on a memory store, beside LangGraph.js with its MemorySaver. The two take turns. */
export async function benchEngine({ steps, rounds } = { steps: 1_000, rounds: 3 }): Promise<Figure> {
  await new Appending().run({ steps: Math.min(steps, 300) });
  await runLangGraph(Math.min(steps, 100));
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const database = new Appending();
    const began = performance.now();
    await database.run({ steps });
    ours.push(performance.now() - began);
    theirs.push((await runLangGraph(steps)).tookMs);
  }
  const [oursMs, theirMs] = [median(ours) / steps, median(theirs) / steps];
  return figure(
    `a step of 1 KB, ${steps} of them (median)`,
    'ms',
    oursMs,
    ['LangGraph.js, MemorySaver', theirMs],
    limit,
    {
      stepsPerSecond: 1_000 / oursMs,
      langGraphStepsPerSecond: 1_000 / theirMs,
      times: theirMs / oursMs,
    },
  );
}
