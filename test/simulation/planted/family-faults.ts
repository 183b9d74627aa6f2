/** Deliberate faults in children. */
import { fault, type PlantedFault } from './fault.ts';

export const familyFaults: readonly PlantedFault[] = [
  fault(
    'the end of a child is told to its parent in a commit of its own',
    'a child, and a call after it',
    'engine/plans.ts',
    '...(next.also && { also: next.also }),',
    '',
  ),
  fault(
    'each run of a step makes its children anew',
    'a child between two calls of one node',
    'engine/child-call.ts',
    "codec.sealer.hash('child', run.scheduled.step, place)",
    "codec.sealer.hash('child', run.scheduled.step, place, String(run.ports.clock.nowMs()))",
  ),
  fault(
    'going back passes over children without a choice',
    'a parent that goes back over its child',
    'engine/step-ledger.ts',
    "return kind === 'tool' || kind === 'model' || kind === 'child';",
    "return kind === 'tool' || kind === 'model';",
  ),
  fault(
    'a child is given its input once more by each runner of its parent',
    'a child, and a call after it',
    'engine/children.ts',
    'await this.#append(row, inputId(wait), item);\n    this.#options.onNews?.(row.thread); // also',
    'await this.#append(row, inputId(wait) + item.atMs, item);\n    this.#options.onNews?.(row.thread); // also',
  ),
];
