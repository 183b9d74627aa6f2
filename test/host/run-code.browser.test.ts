import { connect } from 'holdfast';
import { expect, test } from 'vitest';
import type { smallAgent } from './small-agent.ts';

test('[C1a] a worker in which nothing runs loads what runs threads all the same, while there is a network, and no more', async () => {
  const channel = new BroadcastChannel('telling');
  const loaded: string[] = [];
  const hasRunCode = new Promise<void>((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<string>) => {
      loaded.push(data);
      if (data.endsWith('/engine/run.ts')) resolve();
    };
  });
  const worker = () => new Worker(new URL('./telling.worker.ts', import.meta.url), { type: 'module', name: 'telling' });
  const agent = connect<typeof smallAgent>(worker);

  expect(await agent.threads()).toEqual([]);
  await hasRunCode;
  expect(loaded.filter((file) => file.endsWith('/engine/on-demand.ts'))).toEqual([]);
  await agent.close();
  channel.close();
});
