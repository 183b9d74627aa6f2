import { describe, expect, test } from 'vitest';
import { fuzz } from './fuzz-runs.ts';

describe('hostile input', () => {
  test.for([1, 2])(
    '[H4] crashes no decoder, and nothing that was changed is read: seed %i',
    { timeout: 120_000 },
    async (seed) => {
      const { crashes, silentlyAccepted, findings, runs } = await fuzz({ runs: 4_000, seed });

      expect(findings).toEqual([]);
      expect([crashes, silentlyAccepted, runs]).toEqual([0, 0, 4_000]);
    },
  );

  test('[H4] reaches every decoder', { timeout: 60_000 }, async () => {
    const { decoders } = await fuzz({ runs: 2_000, seed: 3 });

    const kinds = [
      'snapshot',
      'delta',
      'base',
      'pin',
      'intent',
      'outcome',
      'doubt',
      'wait',
      'answer',
      'inbox',
      'events',
      'segment',
      'blob',
    ];
    const sealed = kinds.flatMap((kind) => [`${kind}, tampered`, `${kind}, forged`]);
    expect(Object.keys(decoders).sort()).toEqual([...sealed, 'value', 'row', 'key ring', 'message', 'reply'].sort());
    expect(Object.entries(decoders).filter(([, { refused }]) => refused === 0)).toEqual([]);
  });

  test('[H4] is the same for the same seed', { timeout: 60_000 }, async () => {
    const [first, second] = [await fuzz({ runs: 300, seed: 9 }), await fuzz({ runs: 300, seed: 9 })];

    expect(second.decoders).toEqual(first.decoders);
  });
});
