/** Options of a page's calls that there are not: refused on the page, before anything is asked of the worker. */
import { expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';

test.each([null, 5, { ids: 'other' }])('[B12c] a fork with the options %j is refused on the page', async (options) => {
  const { port1, port2 } = new MessageChannel();
  const thread = connect(port1 as never).thread('thread');

  await expect(thread.fork('0000000000-aaaaaaaaaaaa' as never, options as never)).rejects.toMatchObject({
    code: 'option_invalid',
  });
  port1.close();
  port2.close();
});
