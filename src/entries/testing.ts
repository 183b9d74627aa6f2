/** `holdfast/testing`: run an agent in memory, under a clock that a test moves. */
export { ManualClock } from '../testing/manual-clock.ts';
export { seededRandom } from '../testing/seeded-random.ts';
export { TestWorld } from '../testing/test-engine.ts';
