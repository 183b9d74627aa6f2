import { nameOf, pointsOf, secondAfter, tryPoints } from './crash-points.ts';
import { scenarios } from './scenarios/all.ts';
let total = 0, met = 0, runs = 0; const t = process.cpuUsage(); let shown = 0;
for (const s of scenarios) {
  if (process.argv[2] && !s.name.includes(process.argv[2])) continue;
  const { points, undisturbed } = await pointsOf(s);
  console.log(s.name, points.length, undisturbed.verdict.status, undisturbed.verdict.violations);
  total += points.length;
  for (const p of points) for (const ps of [[p], [p, secondAfter(p, 1)]]) {
    const r = await tryPoints(s, ps); runs++;
    if (ps.length === 1) met += r.met;
    if (r.verdict.violations.length && shown++ < 25) console.log(nameOf(r), r.verdict.violations[0]);
  }
}
console.log(total, met, runs, (process.cpuUsage(t).user + process.cpuUsage(t).system) / 1e6, shown);
