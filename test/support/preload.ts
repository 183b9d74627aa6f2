/** What the engine loads on demand is there before a test begins: a test that waits for turns of the event loop waits for no file. */
import { onDemand } from '../../src/engine/load-on-demand.ts';

await onDemand();
