import { deterministicModel } from 'holdfast/models';
import { serve } from 'holdfast/worker';
import { smallAgent } from './small-agent.ts';

/** The worker's name is its database. */
serve(smallAgent, { database: self.name, model: deterministicModel({ rules: [() => ({ text: 'hello' })] }) });
