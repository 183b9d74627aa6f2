import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, secret } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel } from '../../src/program/model.ts';
import { Scene } from './support.ts';

const key = 'sk-12345 and more';

/** Repeats the key in its answer, in the middle of other pieces. */
const leaking: LanguageModel = {
  name: 'leaking',
  async *stream() {
    for (const text of ['It is ', `${key}, as`, ' you said']) yield { type: 'text', text } as const;
    yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } } as const;
  },
};

test('[A13c] a secret is in no custom event and no token, in whatever data; the pieces of a text stay in their places', async () => {
  const agent = defineAgent({
    name: 'keeper',
    version: 1,
    state: { key: secret(z.string()), notes: log(z.string()) },
    rehydrate: () => ({ key }),
    start: 'go',
    nodes: {
      go: async (state, { emit, model, end }) => {
        emit('plain', { key: state.key, of: [`the ${state.key}`] });
        emit('others', { map: new Map([[state.key, state.key]]), set: new Set([state.key]) });
        await model.text('Which?').catch(() => '');
        return end();
      },
    },
  });
  const scene = new Scene({ agent, model: leaking });
  await (await scene.begun()).run();

  expect(scene.frames('custom').map(({ data }) => data)).toEqual([
    { key: '[secret]', of: ['the [secret]'] },
    { map: new Map([['[secret]', '[secret]']]), set: new Set(['[secret]']) },
  ]);
  const tokens = scene.frames('token').slice(0, 3);
  expect(tokens.map(({ text }) => text).join('')).toBe('It is [secret], as you said');
  expect(tokens.map(({ offset }) => offset)).toEqual([0, 6, 18]);
});
