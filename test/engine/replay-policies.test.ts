/** What a policy decided in what a repair passes over stands: it is asked, and waited for, once. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { sequenceOf } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { answer, Cable, only, plainState, Scene } from './support.ts';

/** Nothing is left of the state. */
function loseState(scene: Scene): void {
  scene.lose('checkpoints', () => true);
  scene.lose('events', (key) => sequenceOf(key) === 0);
}

test.each(['before', 'after'] as const)(
  '[A11d, B8e, B9d] what a policy asks is not asked anew after a repair: lost %s the answer',
  async (lost) => {
    const agent = defineAgent({
      name: 'asker',
      version: 1,
      state: { notes: log(z.string()) },
      policy: [{ node: 'check', action: 'ask' }],
      edges: { check: 'last' },
      start: 'check',
      nodes: {
        check: {
          retry: { attempts: 1 },
          run: () => {
            throw new Error('It was busy.');
          },
        },
        last: (_, { end }) => end({ notes: ['last'] }),
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    expect(await thread.run()).toEqual({ end: 'waiting' });
    const [wait] = await thread.waits();
    const reply = { decision: 'reply', value: 'skip' } as const;
    if (lost === 'after') await answer(thread, only(await thread.waits()), reply);
    loseState(scene);
    scene.clock.advance(1_000);

    const again = await scene.open();
    const end = await again.run();
    if (lost === 'before') {
      expect(end).toEqual({ end: 'waiting' });
      expect(await again.waits()).toEqual([wait]);
      await answer(again, only(await again.waits()), reply);
      expect(await again.run()).toEqual({ end: 'done' });
    } else expect(end).toEqual({ end: 'done' });
    expect((await plainState(again)).notes).toEqual(['last']);
  },
);

test.each([
  ['away', 'waiting'],
  ['there', 'done'],
] as const)(
  '[A11d, B8c] a step that a policy had wait for the network does so again after a repair, with the network %s',
  async (network, end) => {
    const cable = new Cable();
    cable.isPlugged = false;
    let breaks = 1;
    const agent = defineAgent({
      name: 'caller',
      version: 1,
      state: { notes: log(z.string()) },
      policy: [{ node: 'check', action: 'wait_network' }],
      start: 'check',
      nodes: {
        check: {
          retry: { attempts: 1 },
          run: (_, { end }) => {
            breaks -= 1;
            if (breaks >= 0) throw new Error('It was away.');
            return end({ notes: ['there'] });
          },
        },
      },
    });
    const scene = new Scene({ agent });
    scene.world.network = cable;
    const thread = await scene.begun();
    expect(await thread.run()).toEqual({ end: 'waiting' });
    const waits = await thread.waits();
    cable.isPlugged = network === 'there';
    expect(await (await scene.open()).run()).toEqual({ end });
    loseState(scene);
    scene.clock.advance(1_000);

    const again = await scene.open();
    expect(await again.run()).toEqual({ end });
    expect(await again.waits()).toEqual(network === 'away' ? waits : []);
  },
);
