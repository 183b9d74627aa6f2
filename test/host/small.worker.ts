import { deterministicModel } from 'holdfast/models';
import { serve } from 'holdfast/worker';
import { smallAgent } from './small-agent.ts';

const database = self.name || 'small';

serve(smallAgent, {
  database,
  model: deterministicModel({ rules: [() => ({ text: 'Hello from the model, piece by piece.' })], pieceLength: 6 }),
});
