import { Appending } from './appending.ts';
import { type Figure, figure, median, together } from './figures.ts';

const limit = 1.5;

/** P3: a fresh engine opens a long thread, and a short one; until the state of the head and its waits are there. */
export async function benchRestore({ long, rounds } = { long: 10_000, rounds: 60 }): Promise<Figure> {
  const database = new Appending();
  await database.run({ steps: 10 }, 'short');
  await database.run({ steps: long }, 'long');
  const [longMs, shortMs]: [number[], number[]] = [[], []];
  for (let round = -10; round < rounds; round += 1) {
    const [a, b] = [await restore(database, 'long'), await restore(database, 'short')];
    if (round < 0) continue;
    longMs.push(a);
    shortMs.push(b);
  }
  return together({
    'long and short': figure(
      `restoring ${long} steps (median)`,
      'ms',
      median(longMs),
      ['10 steps', median(shortMs)],
      limit,
      { rounds },
    ),
  });
}

async function restore(database: Appending, id: string): Promise<number> {
  const began = performance.now();
  const thread = await database.open({ steps: 1 }, id);
  const { messages } = (await thread.state()) as { readonly messages: { readonly length: number } };
  await thread.waits();
  if (messages.length === 0) throw new Error('Nothing was restored.');
  return performance.now() - began;
}
