/** Several timers and expiries beside a call that takes long: each comes in its time, while the run goes on. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { settled } from './acting-agent.ts';
import { Workers } from './workers.ts';

const state = { said: log(z.string()) };

function given() {
  const gate = deferred<void>();
  const noted: string[] = [];
  const slow = tool({
    name: 'slow',
    description: 'Takes long',
    input: z.object({}),
    effect: 'read',
    timeLimitMs: 5_000_000,
    run: async () => {
      await gate.promise;
      return 'slow';
    },
  });
  const note = tool({
    name: 'note',
    description: 'Notes',
    input: z.object({ what: z.string() }),
    effect: 'idempotent',
    run: ({ what }) => {
      noted.push(what);
      return what;
    },
  });
  return { gate, noted, tools: { slow, note } };
}

/** Lets six seconds pass, in small steps. */
async function sixSeconds({ world }: Workers): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    world.clock.advance(500);
    await settled();
  }
}

test('[B9g] timers of lines side by side', async () => {
  const { gate, noted, tools } = given();
  const agent = defineAgent({
    name: 'lines',
    version: 1,
    state,
    tools,
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['long', 'one', 'two'], { join: 'sum' }),
      long: async (_state, { call, end }) => end({ said: [await call('slow', {})] }),
      one: async (_state, { sleep, call, end }) => {
        await sleep(1_000);
        return end({ said: [await call('note', { what: 'one' })] });
      },
      two: async (_state, { sleep, call, end }) => {
        await sleep(2_000);
        return end({ said: [await call('note', { what: 'two' })] });
      },
      sum: (_state, { end }) => end(),
    },
  });
  const workers = new Workers(agent);
  const host = await workers.start();
  await host.send('t', {}, 'a');
  await settled();
  await sixSeconds(workers);
  expect(noted).toEqual(['one', 'two']);
  gate.resolve();
  await settled();
  await host.close();
});

test('[B9g, B9e] timers and questions of one step', async () => {
  const { gate, noted, tools } = given();
  const agent = defineAgent({
    name: 'one step',
    version: 1,
    state,
    tools,
    start: 'go',
    nodes: {
      go: async (_state, { all, end }) => {
        await all([0, 1, 2, 3, 4], async (n, { call, ask, sleep }) => {
          if (n === 0) return call('slow', {});
          if (n % 2 === 0) await ask('well?', { expiresMs: n * 1_000 }).catch(() => undefined);
          else await sleep(n * 1_000);
          return call('note', { what: `${n}` });
        });
        return end();
      },
    },
  });
  const workers = new Workers(agent);
  const host = await workers.start();
  await host.send('t', {}, 'a');
  await settled();
  await sixSeconds(workers);
  expect(noted).toEqual(['1', '2', '3', '4']);
  gate.resolve();
  await settled();
  await host.close();
});
