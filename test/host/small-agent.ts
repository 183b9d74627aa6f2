import { defineAgent, log, tool, value } from 'holdfast';
import * as z from 'zod';

/** Posts to a channel that the test listens to: the outside world of these tests. */
const note = tool({
  name: 'note',
  description: 'Writes a note',
  input: z.object({ text: z.string() }),
  effect: 'once',
  approval: ({ text }) => text.startsWith('ask'),
  run: ({ text }, { effectKey }) => {
    const channel = new BroadcastChannel('test-notes');
    channel.postMessage({ text, effectKey });
    channel.close();
    return { noted: text };
  },
});

export const smallAgent = defineAgent({
  name: 'small',
  version: 1,
  state: { left: value(z.number().int(), 0), texts: log(z.string()), answer: value(z.string(), '') },
  tools: { note },
  start: 'count',
  maxSteps: 500,
  nodes: {
    async count({ left }, { goto, call }) {
      if (left === 0) return goto('ask');
      const { noted } = await call('note', { text: `note ${left}` });
      return goto('count', { left: left - 1, texts: [noted] });
    },
    async ask(_state, { goto, call }) {
      await call('note', { text: 'ask: done?' });
      return goto('say');
    },
    async say(_state, { end, model }) {
      return end({ answer: await model.text('say hello') });
    },
  },
});
