/** Workers that misbehave, by name. */
import { serve } from 'holdfast/worker';
import { smallAgent } from '../host/small-agent.ts';

switch (self.name) {
  case 'silent':
    break; // never serves
  case 'throws':
    throw new Error('this worker throws at its top level');
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
