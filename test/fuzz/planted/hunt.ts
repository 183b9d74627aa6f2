/** Fuzzes until something is found. Prints it as one line of JSON. */
import { fuzz } from '../fuzz-runs.ts';

const [runs, seed] = [Number(process.argv[2]), Number(process.argv[3])];
const { findings, runs: done } = await fuzz({ runs, seed, stopAtFirst: true });
process.stdout.write(`${JSON.stringify({ found: findings[0] ?? null, runs: done })}\n`, () => process.exit(0));
