import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { KeyRing } from '../codec/key-ring.ts';
import type { Durability } from '../model/commit.ts';
import type { Frame } from '../model/frame.ts';
import type { ThreadHash, ThreadId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import type { RetentionPolicy } from '../model/retention.ts';
import type { TierPolicy } from '../model/tiers.ts';
import type { AnyAgent } from '../program/agent.ts';
import type { LanguageModel } from '../program/model.ts';
import type { Store } from '../store/store.ts';
import type { BelievedTime } from './believed-time.ts';

/** All that an engine needs of the world. A simulator gives every one of them from a seed. */
export interface EnginePorts {
  readonly store: Store;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly random: Random;
  /** Without it, the network is taken to be there. */
  readonly network?: Network;
}

export interface Network {
  /** Whether a request may succeed now. The host makes the engine look again when that changes. */
  isOnline(): boolean;
}

/** The ports, and what an engine makes of its clock. */
export interface RunPorts extends EnginePorts {
  readonly time: BelievedTime;
}

/**
 * Keeps an archive where the user wants it: a file, object storage. Resolves once it is safe there. `id`: the thread's, which the row
 * holds as a hash alone; `undefined` where its record does not open.
 */
export type KeepArchive = (archive: Uint8Array, row: ThreadRow, id: ThreadId | undefined) => Promise<void>;

export interface EngineOptions {
  readonly agent: AnyAgent;
  readonly model?: LanguageModel;
  /** Further models, by the names that the agent's policy uses. */
  readonly models?: Readonly<Record<string, LanguageModel>>;
  readonly namespace?: string;
  readonly owner?: string;
  /** Durability of step commits. Intents, results of effects, inbox items, waits and leases are strict in any case (PROTOCOL 8). */
  readonly durability?: Durability;
  readonly tiers?: Partial<TierPolicy>;
  /** Leases in a row without a committed step before a thread is stopped as failed. Default 8. */
  readonly maxResumes?: number;
  /** Another thread got something to do: a child that was made, a parent whose child ended. Must not throw. */
  readonly onNews?: (thread: ThreadHash) => void;
  /** Further texts that must never be stored or shown, beside the agent's secret fields: keys of services, for example. */
  readonly secrets?: () => Iterable<string>;
  /** What may be taken away: by `compact` and `purge`, where the disk is full, and, where it is given to `serve`, from time to time. */
  readonly retention?: Partial<RetentionPolicy>;
  /** Keeps threads before they are purged. Without it they are purged without an archive. */
  readonly archive?: KeepArchive;
  /** Hears every frame of every thread. Must not throw. */
  readonly onFrame?: (thread: ThreadId, frame: Frame) => void;
}
