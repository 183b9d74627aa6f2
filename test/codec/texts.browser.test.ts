/** msgpackr reads texts otherwise in a browser: by TextDecoder, which drops a byte order mark. */
import { expect, test } from 'vitest';
import { givenThread, roundTrip } from './given.ts';

test.each([0, 20, 65, 300, 3_000])(
  '[A7b] a text of %i characters behind a byte order mark keeps it',
  async (length) => {
    const thread = await givenThread();
    const text = `\ufeff${'é'.repeat(length)}`;
    expect(await roundTrip({ text, list: [text], map: new Map([[text, text]]) }, thread)).toStrictEqual({
      text,
      list: [text],
      map: new Map([[text, text]]),
    });
  },
);
