import { expect, test, vi } from 'vitest';
import { drill } from '../../bench/drill/drill.ts';

test('[H2a, H2b] a workflow in a browser that is killed three times ends as an undisturbed one, each effect once', {
  timeout: 240_000,
}, async () => {
  const signals = vi.spyOn(process, 'kill');
  const lines: string[] = [];
  const report = (line: string) => lines.push(line);
  const figures = await drill({ runs: 1, kills: 3, seed: 20_261_129, report, signal: new AbortController().signal });
  expect(figures).toMatchObject({
    runs: 1,
    kills: 3,
    completed: 1,
    fullReruns: 0,
    effectsDuplicated: 0,
    effectsLost: 0,
  });
  expect(figures.effectsExpected).toBeGreaterThan(3);
  expect(figures.effectsSeen).toBe(figures.effectsExpected);
  // The step that each kill cut off; and the one that waits in its middle, which runs anew, with what is on record, once it is
  // answered after a restart.
  expect(figures.stepsRepeated).toBeLessThanOrEqual(2 * 3);
  // The same kills without checkpoints: every one throws the workflow back to its start.
  expect(figures.without.fullReruns).toBeGreaterThan(0);
  expect(lines).toHaveLength(3);
  // Browser, renderer and at least one more process, in three kills with checkpoints and three without.
  const killed = signals.mock.calls.filter(([, signal]) => signal === 'SIGKILL').map(([pid]) => pid);
  expect(new Set(killed).size).toBeGreaterThanOrEqual(3 * 2 * 3);
  signals.mockRestore();
});
