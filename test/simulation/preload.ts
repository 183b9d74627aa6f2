/**
 * Code that an engine loads only when it needs it. Here it is loaded before any world lives: a world waits for nothing but what
 * happens in it.
 */
import '../../src/codec/quarantine.ts';
import '../../src/codec/shares.ts';
import '../../src/engine/commit-migration.ts';
import '../../src/engine/free-space.ts';
import '../../src/engine/migrate-state.ts';
import '../../src/engine/recorded-use.ts';
import '../../src/engine/repair.ts';
import '../../src/engine/replayed-inputs.ts';
import '../../src/engine/travel-chunk.ts';
