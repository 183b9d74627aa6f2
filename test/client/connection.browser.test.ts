import { connect } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { protocolVersion } from '../../src/protocol/host-api.ts';
import { connectTo, errorOf, lifeLocks, start } from './connections.ts';

describe('a connection', () => {
  test.each([undefined, null, './worker.js', {}, () => undefined])(
    '[C2a] to %j is refused with what it takes',
    async (source) => {
      const agent = connect(source as never);
      const error = await errorOf(agent.threads());
      expect(error).toMatchObject({ code: 'worker_failed' });
      expect(error.message).toMatch(/Give it a Worker, a MessagePort, or a function that makes a Worker/);
      await agent.close();
    },
  );

  test('[C2a] with an option that there is not is refused', () => {
    expect(() => connect(() => start('options'), { timeout: 5 } as never)).toThrow(/startTimeoutMs and callTimeoutMs/);
  });
});

describe('a worker that is gone', () => {
  test('[C1a, C3e] a call under way ends when the worker is terminated, and so does every later one', async () => {
    const worker = start('gone-1');
    const agent = connectTo(worker);
    const thread = agent.thread('t');
    await thread.send({ left: 0 });
    const calls = [errorOf(thread.checkpoints()), errorOf(thread.effects())];
    worker.terminate();
    expect((await Promise.all(calls)).map(({ code }) => code)).toEqual(['worker_gone', 'worker_gone']);
    expect((await errorOf(thread.send({}))).code).toBe('worker_gone');
    await agent.close();
  });

  test('[C3e] a stream ends too', async () => {
    const worker = start('gone-2');
    const agent = connectTo(worker);
    const types: string[] = [];
    for await (const { type } of agent.thread('t').events()) {
      types.push(type);
      worker.terminate();
    }
    expect(types).toEqual(['view']);
    await agent.close();
  });

  test('[C3e] made by a function, it is replaced, and a stream goes on with a fresh view', async () => {
    const workers: Worker[] = [];
    const agent = connectTo(() => {
      workers.push(start('gone-3'));
      return workers.at(-1) as Worker;
    });
    const thread = agent.thread('t');
    await thread.send({ left: 2 });
    const seen: string[] = [];
    for await (const message of thread.events()) {
      seen.push(message.type);
      if (message.type === 'view' && seen.length === 1) workers[0]?.terminate();
      else if (message.type === 'view') break;
    }
    expect(workers).toHaveLength(2);
    await agent.close();
  });
});

describe('a worker that is made by a function', () => {
  const counted = (name: string) => {
    const workers: Worker[] = [];
    const source = () => {
      const worker = start(name);
      workers.push(worker);
      return worker;
    };
    return { workers, source };
  };

  test('[C3e] is replaced when it is lost, also with no stream open and no call under way', async () => {
    const { workers, source } = counted('unwatched');
    const agent = connectTo(source);
    await agent.thread('t').send({ left: 400 });
    workers[0]?.terminate();
    await new Promise<void>((resolve) => {
      const channel = new BroadcastChannel('test-notes');
      channel.onmessage = () => {
        if (workers.length < 2) return; // of the first one, sent before its end
        channel.close();
        resolve();
      };
    });
    expect(workers).toHaveLength(2);
    await agent.close();
  });

  test('[C3e] one that dies while it starts is followed by another, and the stream goes on', async () => {
    const { workers, source } = counted('dies-starting');
    const makes = () => {
      const worker = source();
      if (workers.length === 2) worker.terminate();
      return worker;
    };
    const agent = connectTo(makes, { startTimeoutMs: 4_000 });
    await agent.thread('t').send({ left: 0 });
    let views = 0;
    for await (const message of agent.thread('t').events()) {
      if (message.type === 'view') views += 1;
      if (views === 2) break;
      if (workers.length === 1) workers[0]?.terminate();
    }
    // On a busy machine one more may take longer than its time to start.
    expect(workers.length).toBeGreaterThanOrEqual(3);
    await agent.close();
  });

  test('[C3e] one that is only out of reach is ended when it is replaced', async () => {
    const { workers, source } = counted('out-of-reach');
    const others = await lifeLocks();
    const agent = connectTo(source);
    await agent.threads();
    const [lock = ''] = (await lifeLocks()).filter((name) => !others.includes(name));
    expect(lock).not.toBe('');
    workers[0]?.dispatchEvent(new MessageEvent('messageerror'));
    await agent.threads();
    expect(workers).toHaveLength(2);
    // Given once the first one is gone.
    expect(await navigator.locks.request(lock, (given) => given?.name)).toBe(lock);
    await agent.close();
  });

  test('[C3e] a close ends the pause before the next one', async () => {
    const { workers, source } = counted('pausing');
    const agent = connectTo(source);
    for (let death = 0; death < 4; death += 1) {
      await agent.threads();
      workers.at(-1)?.terminate();
      await agent.threads().catch(() => undefined); // it may still have gone to the one that was ended
    }
    await agent.threads();
    workers.at(-1)?.terminate();
    await agent.threads().catch(() => undefined); // 1.6 s until the next one
    const startedAtMs = performance.now();
    await agent.close();
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  });

  test('[C3e] a stream that was just being opened goes on with the next one', async () => {
    const { workers, source } = counted('opening');
    const agent = connectTo(source);
    await agent.thread('t').send({ left: 0 });
    const events = agent.thread('t').events();
    const first = events.next();
    await Promise.resolve();
    workers[0]?.terminate();
    expect((await first).value?.type).toBe('view');
    await agent.close();
  });

  test('[C1a] is asked for again after the function threw', async () => {
    const { workers, source } = counted('made-later');
    let isReady = false;
    const agent = connectTo(() => {
      if (!isReady) throw new Error('no worker now');
      return source();
    });
    await expect(agent.threads()).rejects.toThrow('no worker now');
    isReady = true;
    expect(await agent.threads()).toEqual([]);
    expect(workers).toHaveLength(1);
    await agent.close();
  });
});

test('[C2c] a stream that is returned from while nothing happens ends at once', async () => {
  const agent = connectTo(() => start('returned'));
  const events = agent.thread('t').events();
  expect((await events.next()).value?.type).toBe('view');
  const idle = events.next();
  await events.return();
  expect(await idle).toEqual({ done: true, value: undefined });
  await agent.close();
});

test('[C1a, C3f] connecting is enough for a thread to go on', async () => {
  const nextNote = () =>
    new Promise<void>((resolve) => {
      const channel = new BroadcastChannel('test-notes');
      channel.onmessage = ({ data }: MessageEvent<{ text: string }>) => {
        if (!/^note \d{3}$/.test(data.text)) return; // of another test
        channel.close();
        resolve();
      };
    });
  const before = connectTo(() => start('goes-on'));
  const first = nextNote();
  await before.thread('t').send({ left: 400 });
  await first;
  await before.close();
  const next = nextNote();
  const after = connectTo(() => start('goes-on'));
  await next;
  expect((await after.thread('t').view())?.status).toBe('running');
  await after.close();
});

describe('a connection that is closed', () => {
  test('[C1a] stops the runs of its worker first, also where the worker itself lives on', async () => {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(new URL('./port.worker.ts', import.meta.url), { type: 'module', name: 'port-closes' });
    worker.postMessage('serve', [port2]);
    const agent = connectTo(port1);
    port1.start();
    await agent.thread('closing').send({ left: 400 });
    const events = agent.thread('closing').events();
    for await (const message of events) if (message.type === 'step' && message.step.sequence > 3) break;
    await agent.close();
    const { held = [] } = await navigator.locks.query();
    expect(held.filter(({ name }) => name?.startsWith('holdfast:port-closes:'))).toEqual([]);
    expect((await errorOf(agent.threads())).code).toBe('worker_gone');
    worker.terminate();
  });

  test('[C1a] is closed at once where the worker was gone before', async () => {
    const worker = start('gone-before');
    const agent = connectTo(worker, { callTimeoutMs: 1_000_000 });
    await agent.threads();
    worker.terminate();
    await agent.close();
    expect((await errorOf(agent.threads())).code).toBe('worker_gone');
  });

  test('[C1a] ends its worker', async () => {
    const others = await lifeLocks();
    const agent = connectTo(start('ends'));
    await agent.threads();
    const [lock = ''] = (await lifeLocks()).filter((name) => !others.includes(name));
    expect(lock).not.toBe('');
    await agent.close();
    // Given once the worker is gone.
    expect(await navigator.locks.request(lock, (given) => given?.name)).toBe(lock);
  });
});

describe('a worker that does not start or answer', () => {
  test('[C1a] one that never calls serve fails the call, with what to look at', async () => {
    const agent = connectTo(start('silent'), { startTimeoutMs: 300 });
    const error = await errorOf(agent.threads());
    expect(error.code).toBe('worker_failed');
    expect(error.message).toContain('Does its file call serve(…), before any await?');
    await agent.close();
  });

  test('[C1a] one that throws at its top level fails the call with its message', async () => {
    const agent = connectTo(start('throws'));
    const error = await errorOf(agent.threads());
    expect(error.code).toBe('worker_failed');
    expect(error.message).toContain('this worker throws at its top level');
    await agent.close();
  });

  test('[C1a] one whose script is not there fails the call', async () => {
    const agent = connectTo(new Worker('/no-such-script.js', { type: 'module' }));
    const error = await errorOf(agent.threads());
    expect(error.code).toBe('worker_failed');
    expect(error.message).toContain('its script could not be loaded');
    await agent.close();
  });

  test('[C1a] one of another version of this library is refused, with both versions', async () => {
    const agent = connectTo(() => start('newer'));
    const error = await errorOf(agent.threads());
    expect(error.code).toBe('worker_failed');
    expect(error.message).toContain(`it speaks protocol 99, this page ${protocolVersion}. Reload the page.`);
    await agent.close();
  });

  test('[C1a] one that lives and does not answer is told apart from one that is gone', async () => {
    const worker = start('freezes');
    const agent = connectTo(worker, { callTimeoutMs: 400 });
    await agent.thread('t').view();
    const error = await errorOf(agent.thread('t').effects());
    expect(error.code).toBe('worker_silent');
    worker.terminate();
    await agent.close();
  });
});

test('[C1a] a worker that could not open leaves nothing behind when it opens at last', async () => {
  const name = 'half-open-lists-later';
  const before = connectTo(() => new Worker(new URL('./lost.worker.ts', import.meta.url), { type: 'module', name }));
  await before.thread('t').send({ left: 400 });
  await before.close();
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL('./port.worker.ts', import.meta.url), { type: 'module', name });
  worker.postMessage('serve', [port2]);
  port1.start();
  const agent = connectTo(port1);
  expect((await errorOf(agent.threads())).code).toBe('store_failed');
  let steps = 0;
  for await (const message of agent.thread('t').events()) {
    if (message.type === 'step') steps += 1;
    if (steps === 10) break;
  }
  // A host that was left behind would hear of these steps, and queue for the thread.
  const { held = [], pending = [] } = await navigator.locks.query();
  const ofThread = ({ name: lock }: LockInfo) => lock?.startsWith(`holdfast:${name}:`);
  expect([held.filter(ofThread).length, pending.filter(ofThread).length]).toEqual([1, 0]);
  await agent.close();
  worker.terminate();
});
