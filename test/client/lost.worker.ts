/** Workers that misbehave, by name. */
import { expose } from 'comlink';
import { serve } from 'holdfast/worker';
import { smallAgent } from '../host/small-agent.ts';

switch (self.name) {
  case 'silent':
    break; // never serves
  case 'throws':
    throw new Error('this worker throws at its top level');
  case 'newer':
    expose({ hello: () => ({ ok: true, value: { protocol: 99, agent: 'small', version: 1, lifeLock: 'none' } }) });
    break;
  case 'freezes':
    serve(smallAgent, { database: 'freezes' });
    self.addEventListener('message', ({ data }: MessageEvent<{ path?: string[] }>) => {
      if (data.path?.[0] !== 'effects') return;
      for (;;); // a busy loop: the worker lives and answers nothing
    });
    break;
  default:
    serve(smallAgent, { database: self.name });
}
