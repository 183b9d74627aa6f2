/** Public methods of an engine's thread, as JavaScript calls them: a typed error each, and nothing is changed. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Scene } from './support.ts';
import { beforeNode, TravelWorld } from './travel-agent.ts';

const odd = (given: unknown) => given as never;

describe('an argument that is none', () => {
  test('[A7d] of send, nested too deep to be stored, is refused with its path', async () => {
    const agent = defineAgent({
      name: 'deep',
      version: 1,
      state: { v: value(z.any(), null) },
      start: 'go',
      nodes: { go: (_state, { end }) => end() },
    });
    const thread = await new Scene({ agent }).open();
    let deep: unknown[] = [];
    for (let level = 0; level < 20_000; level += 1) deep = [deep];

    await expect(thread.send({ v: deep })).rejects.toMatchObject({ code: 'value_not_storable' });
  });

  test.each([Symbol('c'), Object.create(null)])('[A1c] of state is an unknown checkpoint (%#)', async (given) => {
    const thread = await new TravelWorld().done();
    await expect(thread.state(odd(given))).rejects.toMatchObject({ code: 'checkpoint_unknown' });
  });

  test.each(['rollBack', 'edit', 'fork'] as const)('[B12a] of %s as its reason is refused', async (method) => {
    const thread = await new TravelWorld().done();
    const before = await thread.checkpoints();
    const at = await beforeNode(thread, 'mail');
    const first = method === 'edit' ? {} : at;
    const options = { reason: 5, ...(method === 'fork' && { id: 'other' }) };
    await expect(thread[method](odd(first), odd(options))).rejects.toMatchObject({
      code: 'argument_invalid',
      details: { problem: 'its reason is of type number, not a text' },
    });
    expect(await thread.checkpoints()).toEqual(before);
  });
});

test('[A12a] a pin that names no checkpoint is told with the id of its thread, and nothing is deleted', async () => {
  const thread = await new TravelWorld().done();
  const before = await thread.checkpoints();

  for (const pin of ['0000000001-xxxxxxxxxxxx', 'nope']) {
    await expect(thread.compact({ keepCheckpoints: 1 }, [odd(pin)])).rejects.toMatchObject({
      code: 'checkpoint_unknown',
      details: { thread: thread.id, checkpoint: pin },
    });
  }
  expect(await thread.checkpoints()).toEqual(before);
});
