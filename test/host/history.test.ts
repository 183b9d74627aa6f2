/** What a page may ask of a thread's past, through a host. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import type { CheckpointId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { nth } from '../engine/support.ts';
import { settled } from './acting-agent.ts';
import { Workers } from './workers.ts';

const agent = defineAgent({
  name: 'history',
  version: 1,
  state: { said: log(z.string()) },
  start: 'first',
  nodes: {
    first: (_state, { goto }) => goto('second', { said: ['first'] }),
    second: (_state, { end }) => end({ said: ['second'] }),
  },
});

async function finished() {
  const workers = new Workers(agent);
  const host = await workers.start();
  await host.send('t', { said: ['input'] }, 'a');
  await settled();
  const ids = (await host.checkpoints('t', {})).map(({ id }) => id).reverse();
  return { host, first: nth(ids, 1), last: nth(ids, -1) };
}

const said = async (host: Awaited<ReturnType<Workers['start']>>, id: string) => (await host.state(id, null)).said;

test('[B12a, B12b, C2c] a page inspects a checkpoint and sees what differs', async () => {
  const { host, first, last } = await finished();

  expect((await host.inspect('t', first)).state).toEqual({ said: { length: 2, tail: ['input', 'first'] } });
  expect(await host.diff('t', first, last)).toMatchObject([
    { field: 'said', kind: 'log', common: 2, after: { count: 1, items: ['second'] } },
  ]);
});

test('[B12c, C2c] a page rolls back, and the thread runs on from there', async () => {
  const { host, first } = await finished();
  await host.rollBack('t', first, { reason: 'again' });
  await settled();

  expect(await said(host, 't')).toEqual({ length: 3, tail: ['input', 'first', 'second'] });
  expect((await host.checkpoints('t', {})).filter(({ parent }) => parent === first)).toHaveLength(2);
});

test('[B12d, C2c] a page forks and edits the fork, which runs by itself; the source stays', async () => {
  const { host, first } = await finished();
  await host.fork('t', first, 'other', { edit: { said: ['edited'] } });
  await settled();

  expect(await said(host, 'other')).toEqual({ length: 4, tail: ['input', 'first', 'edited', 'second'] });
  expect(await said(host, 't')).toEqual({ length: 3, tail: ['input', 'first', 'second'] });
});

test('[A6c, A6e] a page reads the event log, and exports it', async () => {
  const { host } = await finished();
  const lines = (await host.exportLog('t')).trim().split('\n');

  expect((await host.events('t', {})).filter(({ type }) => type === 'step')).toHaveLength(2);
  expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
    expect.arrayContaining(['created', 'step']),
  );
});

test('[B12c] a checkpoint that is none is a clear error', async () => {
  const { host } = await finished();

  await expect(host.rollBack('t', 'nonsense' as CheckpointId, {})).rejects.toMatchObject({
    code: 'checkpoint_unknown',
  });
});
