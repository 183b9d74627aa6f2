import { serve } from 'holdfast/worker';
import { smallAgent } from '../host/small-agent.ts';

self.addEventListener('message', ({ ports: [port] }: MessageEvent) => {
  if (port !== undefined) serve(smallAgent, { endpoint: port, database: self.name });
});
