/**
 * Code that an engine loads only when it needs it. Here it is loaded before any world lives: a world waits for nothing but what
 * happens in it.
 */
import '../../src/engine/on-demand.ts';
