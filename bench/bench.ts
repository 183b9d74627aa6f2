import { parseArgs } from 'node:util';
import { benchCommit } from './commit.ts';
import { benchEngine } from './engine.ts';
import type { Figure } from './figures.ts';
import { benchGrowth } from './growth.ts';
import { benchLong } from './long.ts';
import { benchRestore } from './restore.ts';

const benchmarks: Readonly<Record<string, () => Promise<Figure>>> = {
  commit: () => benchCommit(),
  growth: () => benchGrowth(),
  restore: () => benchRestore(),
  engine: () => benchEngine(),
  long: () => benchLong(),
};

const help = `npm run bench -- [NAME …] [--json]

Measures side by side with what a user would pick instead; only ratios within one run count.
Names: ${Object.keys(benchmarks).join(', ')} (default: all)
  --json  prints one JSON object as the last line`;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
});
if (values.help === true) {
  console.log(help);
  process.exit(0);
}
const unknown = positionals.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(`There is no benchmark "${unknown.join('", "')}".\n\n${help}`);
  process.exit(2);
}

const figures: Record<string, Figure> = {};
for (const [name, run] of Object.entries(benchmarks)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`${name} …`);
  const figure = await run();
  figures[name] = figure;
  for (const [part, each] of Object.entries(figure.parts ?? { [name]: figure })) show(part, each);
}
if (values.json === true) console.log(JSON.stringify(figures));
process.exitCode = Object.values(figures).every(({ ratioToLimit }) => ratioToLimit <= 1) ? 0 : 1;

function show(name: string, { title, ours, unit, peers, ratio, limit, more }: Figure): void {
  const others = Object.entries(peers).map(([peer, value]) => `${peer} ${value.toFixed(3)} ${unit}`);
  console.log(`  ${name}: ${title}: ${ours.toFixed(3)} ${unit}, ${others.join(', ')}`);
  console.log(`  ratio ${ratio.toFixed(3)}, limit ${limit}; ${JSON.stringify(more)}`);
}
