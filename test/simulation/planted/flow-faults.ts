/** Deliberate faults in lines, waits, limits, policies and going back. */
import { fault, type PlantedFault } from './fault.ts';

export const flowFaults: readonly PlantedFault[] = [
  fault(
    'lines are merged in another order than theirs',
    'three lines, the first of them the slowest',
    'engine/line-join.ts',
    'return all.flat();',
    'return all.reverse().flat();',
  ),
  fault(
    'a line that has ended is run again',
    'lines that wait, each for its own',
    'engine/step-boundaries.ts',
    "draft.putLine({ ...line, status: 'done', waits: [] });",
    "draft.putLine({ ...line, status: run.waits.consumed().length === 0 && line.updates < 4 ? 'open' : 'done', waits: [] });",
  ),
  fault(
    'the node behind a fork is not told of the lines that failed',
    'a list with a limit, whose items fail behind a call',
    'engine/line-join.ts',
    "if (node !== null) draft.putFailures('', failures);",
    '',
  ),
  fault(
    'an event goes to two waits',
    'waits for one event side by side',
    'engine/wait-boundaries.ts',
    'this.#given.set(found.order, wait.id); // at once: another look may be under way',
    '',
  ),
  fault(
    'events that were taken are not settled',
    'two waits for one event, and one more than is waited for',
    'engine/step-boundaries.ts',
    '...withSettled(before, run.waits.consumed()),',
    '',
  ),
  fault(
    'consumed items are forgotten',
    'an event that comes before it is waited for',
    'model/inbox.ts',
    'consumed: [...all].sort((a, b) => a - b) };',
    'consumed: [] };',
  ),
  fault(
    'an answer that does not fit is taken',
    'a question that is answered wrongly, then well',
    'engine/node-waits.ts',
    "if (!('issues' in result)) return result.value as never;\n        ",
    'if (result !== null) return value as never;\n        ',
  ),
  fault(
    'what earlier steps used does not count towards the budget',
    'a budget that is reached, and given up',
    'engine/limits.ts',
    'const tokens = spent.tokens + live.tokens;',
    'const tokens = live.tokens;',
  ),
  fault(
    'an input that takes the run back leaves its calls to the next run',
    'an input that takes the run back',
    'engine/boundaries.ts',
    '...(back && { past: back.past, grants:',
    '...(back && { grants:',
  ),
  fault(
    'a policy tries a step with a payment in it once more',
    'a step with a payment in it is not tried once more',
    'engine/step-policy.ts',
    '    if (run.ledger.entries.some(mustNotRepeat)) return undefined;\n    const ids',
    '    const ids',
  ),
  fault(
    'a policy goes back behind a payment',
    'a payment is not crossed on the way back',
    'engine/time-travel-policy.ts',
    ' || between.some(mustNotRepeat)) return undefined;',
    ') return undefined;',
  ),
  fault(
    'rules of the policy are not counted',
    'a step that is tried once more, in vain',
    'engine/decision.ts',
    '(decisions[key] ?? 0) + 1 };',
    '0 };',
  ),
];
