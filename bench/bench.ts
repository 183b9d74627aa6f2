import { parseArgs } from 'node:util';
import { benchCommit } from './commit.ts';
import type { Figure } from './figures.ts';

const benchmarks: Readonly<Record<string, () => Promise<Figure>>> = { commit: () => benchCommit() };

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
  const peers = Object.entries(figure.peers).map(([peer, value]) => `${peer} ${value.toFixed(2)} ${figure.unit}`);
  console.log(`  ${figure.title}: ${figure.ours.toFixed(2)} ${figure.unit}, ${peers.join(', ')}`);
  console.log(`  ratio ${figure.ratio.toFixed(2)}, limit ${figure.limit}`);
}
if (values.json === true) console.log(JSON.stringify(figures));
process.exitCode = Object.values(figures).every(({ ratioToLimit }) => ratioToLimit <= 1) ? 0 : 1;
