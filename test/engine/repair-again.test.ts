/** A checkpoint that began anew in the logs, and is lost before a step came after it. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { never, nth, plainState, quiet, Scene, withMethods } from './support.ts';

const agent = defineAgent({
  name: 'rounds',
  version: 1,
  state: { round: value(z.number(), 0), lines: log(z.string()) },
  start: 'work',
  nodes: {
    work: ({ round }, { goto, end }) => {
      const update = { round: round + 1, lines: [`round ${round}`] };
      return round < 3 ? goto('work', update) : end(update);
    },
  },
});

const whole = { round: 4, lines: ['round 0', 'round 1', 'round 2', 'round 3'] };

async function newest(scene: Scene, back = 0): Promise<string> {
  return nth(await scene.stored('checkpoints'), -1 - back).key;
}

test('[A11d, A6d] that of a repair: it is made again from its events, and the steps after it have room in the logs', async () => {
  const scene = new Scene({ agent });
  await (await scene.begun()).run();
  const [head, before] = [await newest(scene), await newest(scene, 1)];
  scene.lose('checkpoints', (key) => key === head || key === before);
  const store = scene.world.store();
  let isRepaired = false;
  const cutOff = withMethods(store, {
    commit: async (groups) => {
      if (isRepaired) return never();
      const results = await store.commit(groups);
      isRepaired = groups.some(({ records }) => records.some(({ key }) => key.startsWith('q:')));
      return results;
    },
  });
  void (await scene.open({ store: cutOff })).run();
  while (!isRepaired) await quiet();
  const repair = await newest(scene);
  scene.lose('checkpoints', (key) => key === repair);

  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(await plainState(await scene.open())).toEqual(whole);
});

test('[A11d, B12c] that of going back: it is made again from its events, and the steps after it have room in the logs', async () => {
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  await thread.rollBack(nth(await thread.checkpoints(), 2).id);
  const back = await newest(scene);
  scene.lose('checkpoints', (key) => key === back);

  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(await plainState(await scene.open())).toEqual(whole);
});
