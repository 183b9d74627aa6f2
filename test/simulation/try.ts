import { runSeed } from './seeds.ts';
const n = Number(process.argv[2] ?? 5); const from = Number(process.argv[3] ?? 1);
const t = process.cpuUsage(); let ops = 0; const by = new Map<string, number>(); const or = new Map<string, number[]>();
for (let seed = from; seed < from + n; seed += 1) {
  const v = await runSeed(seed, n < 3);
  ops += v.counts.operations;
  by.set(String(v.status), (by.get(String(v.status)) ?? 0) + 1);
  if (n < 3) console.log(v.lines.join('\n'));
  for (const x of v.violations.slice(0, 1)) { const l = or.get(x.oracle) ?? []; l.push(seed); or.set(x.oracle, l); if (l.length < 4) console.log(seed, v.status, x.oracle, x.message.slice(0,300)); }
}
console.log((process.cpuUsage(t).user+process.cpuUsage(t).system) /1000/ n, 'ms per seed', ops / n, 'ops', by, or);
