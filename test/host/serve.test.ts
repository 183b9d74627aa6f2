import { describe, expect, test } from 'vitest';
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

describe('serve', () => {
  test.each<[object, string]>([
    [{ resume: 'never' }, '"never" is none of auto, on-request'],
    [{ durability: 'none' }, '"none" is none of strict, relaxed'],
    [{ maxResumes: 0 }, '0 is not a number from 1'],
    [{ tiers: { everyStep: 3 } }, 'it has "everyStep"; there are everySteps,'],
    [{ model: { name: 'no model' } }, 'a model has a function stream'],
    [{ retention: { doneDays: -1 } }, 'doneDays is -1, not a number from 0'],
    [{ retentions: {} }, 'there is none of that name; there are database, resume, endpoint, model,'],
  ])('[C2a] with %j is refused at once, and the endpoint is free for a better one', (options, problem) => {
    const { port1 } = new MessageChannel();
    try {
      expect(() => serve({} as typeof smallAgent, { endpoint: port1 })).toThrow('give what defineAgent made');
      expect(() => serve(smallAgent, { endpoint: port1, ...options })).toThrow(problem);
      expect(() => serve(smallAgent, { endpoint: port1, resume: 'on-request' })).not.toThrow();
    } finally {
      port1.close();
    }
  });
});
