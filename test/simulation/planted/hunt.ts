/** Looks for a violation until it has found one: a part of all crash points, then seeds. Prints what it found as one line of JSON. */
import { nameOf, pointsOf, tryPoints } from '../crash-points.ts';
import type { Verdict } from '../run.ts';
import { scenarios } from '../scenarios/all.ts';
import { runSeed } from '../seeds.ts';

export interface Found {
  readonly violation: string | null;
  readonly worlds: number;
}

const [step, seeds, begin] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];
/** The scenario to begin with is tried at all its points. */
const ordered = [...scenarios].sort((a, b) => Number(b.name === begin) - Number(a.name === begin));
const found = await hunt();
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0));

async function hunt(): Promise<Found> {
  let worlds = 0;
  const told = (where: string, { violations }: Verdict): Found | undefined => {
    worlds += 1;
    const [first] = violations;
    return first && { violation: `${where}: [${first.oracle}] ${first.message}`, worlds };
  };
  for (const scenario of ordered) {
    const { points, undisturbed } = await pointsOf(scenario);
    const calm = told(nameOf(undisturbed), undisturbed.verdict);
    if (calm !== undefined) return calm;
    const stride = scenario.name === begin ? 1 : step;
    for (let index = 0; index < points.length; index += stride) {
      const point = points[index];
      if (point === undefined) continue;
      const tried = await tryPoints(scenario, [point]);
      const hit = told(nameOf(tried), tried.verdict);
      if (hit !== undefined) return hit;
    }
  }
  for (let seed = 1; seed <= seeds; seed += 1) {
    const hit = told(`seed ${seed}`, await runSeed(seed));
    if (hit !== undefined) return hit;
  }
  return { violation: null, worlds };
}
