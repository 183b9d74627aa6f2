/** Steps of 1 KB on a memory store: ours, sealed, and LangGraph.js with its MemorySaver. The two take turns. */
import { Appending } from './appending.ts';
import { runLangGraph } from './langgraph.ts';

export interface SidesWork {
  readonly steps: number;
  readonly rounds: number;
}

export interface SidesTook {
  /** Milliseconds for all steps, one for each round. */
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

export async function runSides({ steps, rounds }: SidesWork): Promise<SidesTook> {
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
  return { ours, theirs };
}
