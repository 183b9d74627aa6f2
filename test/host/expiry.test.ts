/** Approvals whose time passes while their step goes on, and how often that wakes the thread. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { withMethods } from '../engine/support.ts';
import { countingLeases, settled, statusIn } from './acting-agent.ts';
import { Workers } from './workers.ts';

/** Asks for leave to send, for each of these; `second` only once the test lets it, and `last` asks nothing, but takes long. */
function asking(to: readonly string[]) {
  const held = { second: deferred<void>(), last: deferred<void>() };
  const send = tool({
    name: 'send',
    description: 'Sends a letter',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    approvalExpiresMs: 10_000,
    run: (letter) => letter.to,
  });
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    input: z.object({ until: z.enum(['second', 'last']) }),
    effect: 'idempotent',
    run: async ({ until }) => {
      await held[until].promise;
      return null;
    },
  });
  const agent = defineAgent({
    name: 'asking',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { send, wait },
    start: 'go',
    nodes: {
      async go(_state, { all, end }) {
        const notes = await all(to, async (one, { call }) => {
          if (one === 'second' || one === 'last') await call('wait', { until: one });
          if (one === 'last') return 'last';
          return call('send', { to: one }).catch((error: { code: string }) => error.code);
        });
        return end({ notes });
      },
    },
  });
  return { workers: new Workers(agent), held };
}

test('[B9e] a wait that is opened while another one expires expires in its time, too', async () => {
  const { workers, held } = asking(['first', 'second', 'last']);
  const store = workers.world.store();
  const gate = deferred<void>();
  let isHolding = false;
  const host = await workers.start({
    store: withMethods(store, {
      commit: async (groups) => {
        const results = await store.commit(groups);
        const isFirst = isHolding && groups[0]?.conditions.some(({ kind }) => kind === 'wait_open');
        if (isFirst) isHolding = false;
        if (isFirst) await gate.promise;
        return results;
      },
    }),
  });
  await host.send('t', {}, 'a');
  await settled();
  isHolding = true;
  workers.world.clock.advance(10_000);
  await settled();
  held.second.resolve(); // asked for while the first one's end is being written
  await settled();
  gate.resolve();
  await settled();
  workers.world.clock.advance(10_000);
  await settled();
  held.last.resolve();
  await settled();
  expect(await statusIn(host)).toBe('done');
  const tail = ['approval_expired', 'approval_expired', 'last'];
  expect((await host.state('t', null)).notes).toEqual({ length: 3, tail });
});

test('[B9e] waits that were answered wake nobody when their time is over', async () => {
  const { workers } = asking(['a', 'b', 'c', 'd']);
  const counting = countingLeases(workers.world.store());
  const host = await workers.start({ store: counting.store });
  await host.send('t', {}, 'a');
  await settled();
  for (const wait of (await host.view('t'))?.waits ?? []) {
    await host.answer('t', wait.id, wait.digest, { decision: 'allow' });
    await settled();
  }
  expect(await statusIn(host)).toBe('done');
  counting.leases = 0;
  workers.world.clock.advance(60_000);
  await settled();
  expect(counting.leases).toBe(0);
});
