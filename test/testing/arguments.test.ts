/** What tests are written with says so when it is used wrongly: a clock without a time, or a seed that is none. */
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

/** As code without types gives it. */
const odd = (given: unknown) => given as never;

describe('a manual clock', () => {
  test.each([-1, Number.NaN, Infinity, '5', undefined])('is not moved on by %j', (durationMs) => {
    const clock = new ManualClock(0);

    expect(() => clock.advance(odd(durationMs))).toThrow(`the time is ${durationMs}, not a number of milliseconds`);
    expect(clock.nowMs()).toBe(0);
  });

  test.each([Number.NaN, -Infinity, '5'])('is not put to %j', (durationMs) => {
    const clock = new ManualClock(0);

    expect(() => clock.jump(odd(durationMs))).toThrow('jump(durationMs) cannot be called so');
    expect(() => new ManualClock(odd(durationMs))).toThrow('new ManualClock(nowMs) cannot be called so');
    expect(clock.nowMs()).toBe(0);
  });

  test('lets one sleep of a length pass, and the next one last', async () => {
    const clock = new ManualClock(0);
    clock.passNext(5);
    await clock.sleep(5);
    expect(clock.nowMs()).toBe(5);

    const second = clock.sleep(5).then(() => clock.nowMs());
    await Promise.resolve();
    expect(clock.nowMs()).toBe(5);
    clock.advance(7);
    expect(await second).toBe(12);
  });

  test('is moved on by nothing, and put back', () => {
    const clock = new ManualClock(5);
    clock.advance(0);
    clock.jump(-5);

    expect(clock.nowMs()).toBe(0);
  });
});

test.each([Number.NaN, 1.5, '7', null])('a seed of %j is refused', (seed) => {
  expect(() => seededRandom(odd(seed))).toThrow(`the seed is ${seed}, not a whole number`);
  expect(() => new TestWorld({ seed: odd(seed) })).toThrow(`the seed is ${seed}, not a whole number`);
});
