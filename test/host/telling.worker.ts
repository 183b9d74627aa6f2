/** Tells which parts of the engine it has loaded, over a channel that bears its name. */
import { serve } from 'holdfast/worker';
import { smallAgent } from './small-agent.ts';

const channel = new BroadcastChannel(self.name);
const tell = (entries: PerformanceEntryList) => {
  for (const { name } of entries) channel.postMessage(new URL(name).pathname);
};
new PerformanceObserver((list) => tell(list.getEntries())).observe({ type: 'resource', buffered: true });

serve(smallAgent, { database: self.name });
