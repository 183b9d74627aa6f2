import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { jsonOf } from '../../src/engine/json-of.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, nth, only, Scene, ScriptedModel } from './support.ts';

function given() {
  const mail = tool({
    name: 'mail',
    description: 'Mails',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    run: ({ to }) => `mailed ${to}`,
  });
  const agent = defineAgent({
    name: 'mailer',
    version: 1,
    state: { to: value(z.string(), ''), text: value(z.string(), ''), lines: log(z.string()) },
    tools: { mail },
    start: 'think',
    nodes: {
      think: async ({ to }, { model, goto }) => goto('send', { text: await model.text(`write to ${to}`) }),
      send: async ({ to }, { call, end }) => end({ lines: [await call('mail', { to })] }),
    },
  });
  const scene = new Scene({ agent, model: new ScriptedModel(() => 'dear friend') });
  const run = async () => {
    const thread = await scene.begun({ to: 'ann' });
    scene.clock.advance(10);
    await thread.run();
    scene.clock.advance(1_000);
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    scene.clock.advance(1_000);
    await thread.run();
    return thread;
  };
  return { scene, run };
}

async function linesOf(thread: EngineThread): Promise<readonly Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  for await (const line of thread.exportLog()) {
    expect(line).toMatch(/^[^\n]*\n$/);
    lines.push(JSON.parse(line) as Record<string, unknown>);
  }
  return lines;
}

describe('the event log', () => {
  test('[A6c] says in order who did what and how it ended', async () => {
    const { run } = given();
    const events = await (await run()).events();
    expect(events.map(({ type, by, outcome }) => [type, by.kind, outcome])).toEqual([
      ['created', 'page', 'created'],
      ['effect', 'engine', 'succeeded'],
      ['step', 'engine', 'send'],
      ['waiting', 'engine', 'waiting'],
      ['answered', 'person', 'allow'],
      ['effect', 'engine', 'succeeded'],
      ['step', 'engine', 'end'],
    ]);
    expect(events.map(({ atMs }) => atMs)).toEqual([...events.map(({ atMs }) => atMs)].sort());
  });

  test('[A6c] names input and output by where they are, and holds no copy', async () => {
    const { run } = given();
    const events = await (await run()).events();
    expect(nth(events, 0).input).toEqual([{ kind: 'inbox', order: 1 }]);
    expect(nth(events, 1)).toMatchObject({
      input: [{ kind: 'ledger', number: 1, part: 'i' }],
      output: [{ kind: 'ledger', number: 1, part: 'o' }],
    });
    expect(nth(events, 4).output).toMatchObject([{ kind: 'wait', part: 'a' }]);
    expect(JSON.stringify(events)).not.toContain('dear friend');
  });

  test('[A6a] read page by page gives what it gives at once', async () => {
    const { scene, run } = given();
    const thread = await run();
    await thread.send({ to: 'bob' });
    await thread.run();
    const whole = await thread.events();
    for (const limit of [1, 2, 3]) {
      const paged = [];
      for (let from: string | undefined; ; ) {
        const page = await thread.events({ limit, ...(from !== undefined && { from }) });
        const [last] = page.slice(-1);
        if (last === undefined) break;
        paged.push(...page);
        from = last.id;
        if (from.endsWith('~')) break;
      }
      expect(paged).toEqual(whole);
    }
    expect(scene.frames('wait')).toHaveLength(2);
  });

  test('[A6c] tells of calls that no step has ended yet', async () => {
    const { scene } = given();
    const thread = await scene.begun({ to: 'ann' });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'deny' });
    expect(nth(await thread.events(), -1)).toMatchObject({ type: 'answered', outcome: 'deny', by: { kind: 'person' } });
  });

  test('[A6a] lives in a store of its own, and no record of it is ever written twice', async () => {
    const { scene } = given();
    const thread = await scene.begun({ to: 'ann' });
    await thread.run();
    const before = await scene.stored('events');
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await thread.run();
    expect((await scene.stored('events')).slice(0, before.length)).toEqual(before);
  });
});

describe('exported as JSON Lines', () => {
  test('[A6e] each event is a line with the data it refers to', async () => {
    const { run } = given();
    const thread = await run();
    const lines = await linesOf(thread);
    expect(lines.map(({ id }) => id)).toEqual((await thread.events()).map(({ id }) => id));
    expect(nth(lines, 0).input).toMatchObject([{ data: { type: 'input', update: { to: 'ann' } } }]);
    expect(nth(lines, 1).output).toMatchObject([{ data: { value: { text: 'dear friend' } } }]);
    expect(nth(lines, 4)).toMatchObject({
      input: [{ data: { args: { to: 'ann' } } }],
      output: [{ data: { decision: 'allow' } }],
    });
    expect(nth(lines, 5).output).toMatchObject([{ data: { value: 'mailed ann', error: null } }]);
  });

  test('[A6e] a long log comes whole', async () => {
    const { scene } = given();
    const thread = await scene.open();
    for (let n = 0; n < 60; n += 1) {
      await thread.send({ to: `guest ${n}` });
      await thread.run();
      await thread.cancel();
      await thread.run();
    }
    const lines = await linesOf(thread);
    expect(lines.filter(({ type }) => type === 'cancelled')).toHaveLength(60);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
  });

  test('[A6e] data that cannot be read is an error in its line, and the others come', async () => {
    const { scene, run } = given();
    const thread = await run();
    scene.damage('waits', (key) => key.startsWith('w:'));
    const lines = await linesOf(thread);
    expect(nth(lines, 4).input).toMatchObject([{ error: { code: 'record_damaged' } }]);
    expect(lines).toHaveLength(7);
  });

  test('[A6e] every storable value has a form', () => {
    const shared = { n: 1 };
    const given = {
      date: new Date(0),
      big: 5n,
      nan: Number.NaN,
      zero: -0,
      none: undefined,
      map: new Map([['k', new Set([1])]]),
      bytes: new Uint8Array([1, 2, 3]),
      error: new TypeError('no'),
      a: shared,
      b: shared,
    };
    expect(JSON.parse(JSON.stringify(jsonOf(given)))).toEqual({
      date: { $date: '1970-01-01T00:00:00.000Z' },
      big: { $bigint: '5' },
      nan: { $number: 'NaN' },
      zero: { $number: '-0' },
      none: { $undefined: true },
      map: { $map: [['k', { $set: [1] }]] },
      bytes: { $bytes: 'AQID' },
      error: { $error: { name: 'TypeError', message: 'no' } },
      a: { n: 1 },
      b: { $again: '/a' },
    });
  });
});
