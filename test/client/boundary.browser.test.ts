import { describe, expect, test } from 'vitest';
import { connectTo, errorOf, start } from './connections.ts';

describe('what crosses the boundary', () => {
  test('[C1a, C2c] an error keeps code, details and message', async () => {
    const agent = connectTo(() => start('errors'));
    const thread = agent.thread('t');
    const error = await errorOf(thread.send({ left: 'many' } as never));
    expect(error.code).toBe('state_invalid');
    expect(error.details).toMatchObject({ field: 'left' });
    expect(error.message).toContain('The update of field "left" does not fit its schema');
    expect((await errorOf(thread.send({ nope: 1 } as never))).code).toBe('field_unknown');
    for (const options of ['order-1', { dedup: 'order-1' }, { polcy: 'interrupt' }, null])
      expect((await errorOf(thread.send({}, options as never))).code).toBe('option_invalid');
    expect((await errorOf(thread.signal('news', 1, 'order-1' as never))).code).toBe('option_invalid');
    expect((await errorOf(thread.state())).code).toBe('thread_unknown');
    expect((await errorOf(agent.thread('').view())).code).toBe('thread_id_invalid');
    expect(await thread.view()).toBeNull();
    await agent.close();
  });

  test('[C1a, A7d] what cannot be sent to a worker is refused as what cannot be stored, and nothing was kept', async () => {
    const agent = connectTo(() => start('uncloneable'));
    const thread = agent.thread('t');
    const error = await errorOf(thread.send({ left: () => 1 } as never));
    expect(error.code).toBe('value_not_storable');
    expect(error.message).toContain('Send plain data, and files as File. Nothing was kept.');
    expect(await thread.view()).toBeNull();
    await agent.close();
  });

  test('[C2b] a message port serves as well as a worker', async () => {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(new URL('./port.worker.ts', import.meta.url), { type: 'module', name: 'port' });
    worker.postMessage('serve', [port2]);
    const agent = connectTo(port1);
    port1.start();
    expect(await agent.threads()).toEqual([]);
    await agent.close();
    worker.terminate();
  });

  test('[C2b] a port can be connected to again after it was closed', async () => {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(new URL('./port.worker.ts', import.meta.url), { type: 'module', name: 'port-again' });
    worker.postMessage('serve', [port2]);
    port1.start();
    const first = connectTo(port1);
    await first.thread('t').send({ left: 0 });
    await first.close();
    const second = connectTo(port1);
    expect((await second.threads()).map(({ id }) => id)).toEqual(['t']);
    await second.close();
    worker.terminate();
  });

  test('[C1a] hostile messages find nothing to call, and the worker goes on', async () => {
    const worker = start('hostile');
    const agent = connectTo(worker);
    await agent.threads();
    const answered: unknown[] = [];
    worker.addEventListener('message', ({ data }: MessageEvent<{ id?: string; value?: unknown }>) => {
      if (data.id?.startsWith('hostile')) answered.push(data);
    });
    const text = { type: 'RAW', value: 'self.hacked = true' };
    const paths = [
      ['constructor', 'constructor'],
      ['send', 'constructor'],
      ['send', 'apply', 'constructor'],
      ['__proto__', 'constructor'],
      ['__proto__'],
      ['constructor'],
      ['send', 'bind'],
      ['toString'],
      ['hasOwnProperty'],
      [],
      [{}],
    ];
    for (const type of ['APPLY', 'GET', 'SET', 'CONSTRUCT', 'ENDPOINT', 'RELEASE']) {
      for (const path of type === 'APPLY' ? paths : [...paths, ['send']]) {
        worker.postMessage({ id: `hostile ${type} ${path.join('.')}`, type, path, argumentList: [text], value: text });
      }
    }
    worker.postMessage('nonsense');
    worker.postMessage({ type: 'APPLY' });
    worker.postMessage({ type: 'APPLY', path: 'threads' });
    worker.postMessage(null);
    // A function that is there, with arguments that are none.
    const refused = new Promise<{ value: unknown }>((resolve) => {
      worker.addEventListener('message', ({ data }) => data.id === 'malformed' && resolve(data));
    });
    worker.postMessage({ id: 'malformed', type: 'APPLY', path: ['view'], argumentList: [null] });
    expect((await refused).value).toMatchObject({ ok: false });
    // Messages are answered in their order: what was asked before has had its turn.
    expect(await agent.threads()).toEqual([]);
    expect(answered).toEqual([]);
    await agent.close();
  });
});
