import { expect, test } from 'vitest';
import { serve } from '../../src/entries/worker.ts';
import { smallAgent } from './small-agent.ts';

test('[C1a] a second serve on one endpoint is refused, and says how a worker comes to run its file twice', () => {
  const { port1, port2 } = new MessageChannel();
  try {
    serve(smallAgent, { endpoint: port1 });
    expect(() => serve(smallAgent, { endpoint: port1 })).toThrow(
      expect.objectContaining({
        code: 'served_twice',
        message: expect.stringMatching(/Call `serve` once\..*without \? or #/s),
      }),
    );
    serve(smallAgent, { endpoint: port2 }); // another one is another page
  } finally {
    port1.close();
    port2.close();
  }
});
