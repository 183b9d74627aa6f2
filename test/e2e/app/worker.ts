import { deterministicModel } from 'holdfast/models';
import { serve } from 'holdfast/worker';
import { courier } from './agent.ts';

const resume = self.name === 'on-request' ? 'on-request' : 'auto';

serve(courier, {
  resume,
  model: deterministicModel({
    rules: [
      ({ messages: [message] }) => ({
        text: `I thought: ${message !== undefined && 'text' in message ? message.text : ''}`,
      }),
    ],
    firstPieceMs: 15,
  }),
});
