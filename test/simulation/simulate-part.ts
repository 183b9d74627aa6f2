/** One process of the simulator: does its part of an order, and tells the one that started it. */
import type { Order, Told } from './figures.ts';
import { runSeed } from './seeds.ts';
import { simulateAll } from './simulate-all.ts';

/** `replays`: tells all that happens in the world of the first seed. */
const { replays, ...order } = JSON.parse(process.argv[2] ?? '') as Order & { readonly replays: boolean };
const untold: Told[] = [];
process.on('disconnect', () => process.exit(1)); // nobody is there to hear of it

if (replays) {
  const verdict = await runSeed(order.firstSeed, true);
  for (const line of verdict.lines) tell({ line });
  tell({ line: `The thread ended ${verdict.status}; digest of the trace ${verdict.digest}.` });
}
untold.push({ figures: await simulateAll(order, tell) });
// Once all is on its way: what is still to be written when the channel closes is lost.
process.send?.(untold.splice(0), () => process.disconnect());

/** Seeds are told some at a time: a message costs as much as a few operations of a world. */
function tell(told: Told): void {
  untold.push(told);
  if ('seed' in told && untold.length < 50) return;
  process.send?.(untold.splice(0));
}
