import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, never, nth, only, plainState, Scene } from './support.ts';

const input = z.object({ at: z.number(), draw: z.number() });

/** A node that reads clock and chance all over, and calls with what it read. */
function reader() {
  const seen: number[][] = [];
  const sent: unknown[] = [];
  const isCut = deferred<void>();
  let cuts = true;
  const send = tool({
    name: 'send',
    description: 'Sends',
    input,
    effect: 'once',
    approval: 'always',
    run: (what) => {
      sent.push(what);
      return 'sent';
    },
  });
  const note = tool({
    name: 'note',
    description: 'Notes',
    input,
    effect: 'idempotent',
    run: () => {
      if (!cuts) return 'noted';
      isCut.resolve();
      return never<string>();
    },
  });
  const agent = defineAgent({
    name: 'reader',
    version: 1,
    state: { values: log(z.number()) },
    tools: { send, note },
    start: 'go',
    nodes: {
      go: async (_state, { now, random, call, all, end }) => {
        const values = [now(), random(), random()];
        values.push(...(await all([1, 2], async (_item, scope) => scope.random())));
        seen.push([...values]);
        await call('note', { at: nth(values, 0), draw: nth(values, 1) });
        values.push(now());
        await call('send', { at: nth(values, -1), draw: nth(values, 2) });
        return end({ values });
      },
    },
  });
  const scene = new Scene({ agent });
  const uncut = () => {
    cuts = false;
  };
  return { scene, seen, sent, isCut: isCut.promise, uncut };
}

describe('clock and chance', () => {
  test('[B3c, I6] give a node that runs again the values that it saw before its recorded call', async () => {
    const { scene, seen, isCut, uncut } = reader();
    await scene.begun();
    const { thread, life } = await scene.mortal();
    void thread.run();
    await isCut;
    life.end();
    uncut();
    scene.clock.advance(5_000);
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });

    expect(seen).toHaveLength(2);
    expect(nth(seen, 1)).toEqual(nth(seen, 0));
    expect(new Set(nth(seen, 0)).size).toBe(5);
  });

  test('[B9d, I6] what an approval showed of them is what is sent after a restart', async () => {
    const { scene, sent, uncut } = reader();
    uncut();
    const thread = await scene.begun();
    await thread.run();
    const wait = only(await thread.waits());
    scene.clock.advance(99_000);
    const again = await scene.open();
    await answer(again, wait, { decision: 'allow' });

    expect(await again.run()).toEqual({ end: 'done' });
    expect(only(sent)).toEqual(wait.args);
  });

  test('[B3c, I6] give the same values at every place, in the state that is kept in the end too', async () => {
    const { scene, seen, uncut } = reader();
    uncut();
    const thread = await scene.begun();
    await thread.run();
    scene.clock.advance(99_000);
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await (await scene.open()).run();

    const { values } = await plainState(thread);
    expect(values).toEqual([...nth(seen, 0), nth(nth(seen, 0), 0)]);
    expect(nth(seen, 1)).toEqual(nth(seen, 0));
  });
});
