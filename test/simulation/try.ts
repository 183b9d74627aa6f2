import { run } from './run.ts';
import { Dice } from './world/dice.ts';
import { inventPlan } from './plan/invent.ts';
const n = Number(process.argv[2] ?? 5); const from = Number(process.argv[3] ?? 1);
const t = performance.now(); let ops = 0; const by = new Map<string, number>();
for (let seed = from; seed < from + n; seed += 1) {
  const v = await run({ seed, plan: inventPlan(new Dice(seed)), actions: [{ afterMs: 1, does: 'send', input: 'in1', total: 3 }, { afterMs: 100, does: 'send', input: 'in2' }], keepsLines: n < 3 });
  ops += v.counts.operations;
  by.set(String(v.status), (by.get(String(v.status)) ?? 0) + 1);
  if (n < 3) console.log(v.lines.join('\n'));
  if (v.violations.length) console.log(seed, v.status, v.violations.slice(0,2));
}
console.log((performance.now() - t) / n, 'ms per seed', ops / n, 'ops', by);
