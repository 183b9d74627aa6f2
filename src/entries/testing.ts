/** `holdfast/testing`: run an agent in memory, under a clock that a test moves. */
export type { Engine } from '../engine/engine.ts';
export type { EngineThread } from '../engine/engine-thread.ts';
export type { EngineOptions } from '../engine/ports.ts';
export type { RunEnd } from '../engine/run-end.ts';
export { ManualClock } from '../testing/manual-clock.ts';
export { seededRandom } from '../testing/seeded-random.ts';
export { TestWorld } from '../testing/test-engine.ts';
