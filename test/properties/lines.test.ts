/** Lines that end in any order, against the same updates one after the other. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { plainState, quiet, Scene } from '../engine/support.ts';

/** For each line its steps, each with what it adds to the log. */
type Plan = readonly (readonly (readonly string[])[])[];

const plans: fc.Arbitrary<Plan> = fc.array(
  fc.array(fc.array(fc.stringMatching(/^[a-z]$/), { maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 5 },
);
/** A plan, and an order in which the steps of all lines end: the number of a line as often as it has steps. */
const races = plans.chain((plan) => {
  const turns = plan.flatMap((steps, line) => steps.map(() => line));
  return fc.tuple(
    fc.constant(plan),
    fc.shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length }),
    fc.integer({ min: 1, max: 5 }),
  );
});

/** Not commutative: the order of the updates shows in it. */
const withDigit = (number: number, digit: number) => (number * 10 + digit) % 1_000_003;

function agentOf(plan: Plan, gates: readonly (readonly Deferred<void>[])[], limit: number) {
  const nth = z.number();
  return defineAgent({
    name: 'lines',
    version: 1,
    state: { trail: log(z.string()), order: value(z.number(), 1, withDigit), own: value(z.number(), 0) },
    start: 'begin',
    nodes: {
      begin: (_state, { fanOut }) => fanOut('work', [...plan.keys()], { join: 'join', limit }),
      // The trail of a line shows which of its steps this is.
      work: async ({ own }, { item, goto, end }) => {
        const line = item(nth);
        await gates[line]?.[own]?.promise;
        const update = { trail: plan[line]?.[own] ?? [], order: line + 1, own: own + 1 };
        return own + 1 < (plan[line]?.length ?? 0) ? goto('work', update) : end(update);
      },
      join: (_state, { end }) => end({ trail: ['joined'] }),
    },
  });
}

test('[B1d, B1e] whatever ends first, the result is that of the lines one after the other', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(races, async ([plan, turns, limit]) => {
      const gates = plan.map((steps) => steps.map(() => deferred<void>()));
      const thread = await new Scene({ agent: agentOf(plan, gates, limit) }).begun();
      const running = thread.run();
      const taken = plan.map(() => 0);
      for (const line of turns) {
        gates[line]?.[taken[line] ?? 0]?.resolve();
        taken[line] = (taken[line] ?? 0) + 1;
        await quiet();
      }
      expect(await running).toEqual({ end: 'done' });

      const { trail, order } = await plainState(thread);
      expect(trail).toEqual([...plan.flat(2), 'joined']);
      expect(order).toBe(plan.flatMap((steps, line) => steps.map(() => line + 1)).reduce(withDigit, 1));
    }),
    { seed: 20261130, numRuns: 60 },
  );
});
