/** Several things in the inbox at once are taken up in the order in which they came. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { head, plainState, Scene, ScriptedModel } from './support.ts';

function asking() {
  return new Scene({
    agent: defineAgent({
      name: 'asking',
      version: 1,
      state: { said: log(z.string()), who: value(z.string(), '') },
      start: 'go',
      nodes: {
        go: async ({ who }, { ask, end }) => {
          await ask(`who ${who}?`);
          return end({ said: [who] });
        },
      },
    }),
  });
}

describe('of two inputs that wait', () => {
  test.each(['interrupt', 'roll_back'] as const)(
    '[B11b] the newest takes the place of the run (%s), and not the one before it',
    async (policy) => {
      const thread = await asking().begun({ who: 'A' });
      expect(await thread.run()).toEqual({ end: 'waiting' });
      await thread.send({ who: 'B' }, 'b', policy);
      await thread.send({ who: 'C' }, 'c', policy);
      expect(await thread.run()).toEqual({ end: 'waiting' });
      expect((await thread.waits()).map(({ reason }) => reason)).toEqual(['who C?']);
      expect((await plainState(thread)).who).toBe('C');
    },
  );
});

describe('an extension', () => {
  const spending = () => {
    const model = new ScriptedModel(() => 'yes');
    const agent = defineAgent({
      name: 'spending',
      version: 1,
      state: { said: log(z.string()) },
      limits: { tokens: 20 },
      start: 'go',
      nodes: {
        go: async (_state, { model, goto }) => goto('more', { said: [await model.text('a prompt of many tokens')] }),
        more: async (_state, { model, end }) => end({ said: [await model.text('more')] }),
      },
    });
    return new Scene({ agent, model });
  };

  test('[B7e, B11a] that came behind an input is for the run that this one begins', async () => {
    const thread = await spending().begun();
    await thread.extend({ tokens: 100 });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await head(thread)).control.limits.tokens).toBe(120);
  });

  test('[B7e, B11a] that came behind the input of a later run is for that one', async () => {
    const thread = await spending().begun();
    expect(await thread.run()).toEqual({ end: 'out_of_budget' });
    await thread.send({}, 'next', 'interrupt');
    await thread.extend({ tokens: 100 });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await head(thread)).control.limits.tokens).toBe(120);
  });
});
