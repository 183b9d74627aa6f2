import { connect, type StreamMessage } from 'holdfast';
import { expect, test } from 'vitest';
import type { smallAgent } from './small-agent.ts';

function startWorker(database: string): Worker {
  return new Worker(new URL('./small.worker.ts', import.meta.url), { type: 'module', name: database });
}

test('[C1a, C2c] a page sends, streams, approves and reads the result', async () => {
  const agent = connect<typeof smallAgent>(() => startWorker('spine'));
  const thread = agent.thread('one');
  const seen: StreamMessage[] = [];
  await thread.send({ left: 3 });
  for await (const message of thread.events()) {
    seen.push(message);
    const waits = message.type === 'view' ? message.view.waits : message.type === 'wait' ? [message.wait] : [];
    if (waits.length > 0) {
      const [wait] = await thread.waits();
      await wait?.allow();
    }
    if (message.type === 'status' && message.status === 'done') break;
  }
  const state = await thread.state();
  expect(state.texts.tail).toEqual(['note 3', 'note 2', 'note 1']);
  expect(state.answer).toBe('Hello from the model, piece by piece.');
  expect(seen.filter(({ type }) => type === 'token').length).toBeGreaterThan(3);
  await agent.close();
});
