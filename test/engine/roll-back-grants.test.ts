import { expect, test } from 'vitest';
import { askingAgent } from './asking-agent.ts';
import { answer, head, nth, only, Scene } from './support.ts';
import { choices } from './travel-agent.ts';

/** A run whose mails were allowed for the rest of the thread, and that is done. */
async function granted() {
  const { agent, sent } = askingAgent({ to: ['ann'] });
  const thread = await new Scene({ agent }).begun();
  await thread.run();
  await answer(thread, only(await thread.waits()), { decision: 'allow', forThread: true });
  expect(await thread.run()).toEqual({ end: 'done' });
  const first = nth(await thread.checkpoints(), -1).id;
  return { thread, sent, first };
}

test('[B12c, B9e] going back takes back what was granted since: it is asked again', async () => {
  const { thread, sent, first } = await granted();
  expect((await head(thread)).control.grants).toEqual(['send']);
  await thread.rollBack(first, { effects: await choices(thread.rollBack(first), () => 'redo') });

  expect((await head(thread)).control.grants).toEqual([]);
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect(sent).toHaveLength(1);
});

test('[B12c, B9e] going on to a lineage that was left gives no grant that had been taken back', async () => {
  const { thread, first } = await granted();
  const left = await head(thread);
  await thread.rollBack(first, { effects: await choices(thread.rollBack(first), () => 'redo') });
  await thread.rollBack(left.id);

  expect((await head(thread)).control.grants).toEqual([]);
});
