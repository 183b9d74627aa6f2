import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { KeyRing } from '../codec/key-ring.ts';
import type { Field } from '../model/fields.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { TierPolicy } from '../model/tiers.ts';
import type { Store } from '../store/store.ts';

export interface CheckpointerParts {
  readonly store: Store;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly random: Random;
}

/** Names only: the state's type is the caller's, and is not inferred from its fields. */
type NamesOf<State> = State extends infer Given ? keyof Given : never;

export interface CheckpointerOptions<State extends object = Record<string, unknown>> {
  /** How each field of the state is stored; `secret` is not. Without it every field is stored, as a value. */
  readonly fields?: Readonly<Record<NamesOf<State>, Field>>;
  readonly namespace?: string;
  readonly owner?: string;
  readonly tiers?: Partial<TierPolicy>;
}

export interface SaveOptions {
  /** The head this state was made from. Default: the one that this checkpointer last loaded or saved; none at first. */
  readonly parent?: CheckpointId | null;
  /**
   * `rebase`: what changed is applied again to the new head. Of a log that is what was added. A value is yours, unless its field
   * has a reducer: then it is `reduce(value at the head, your value)`. Default `fail`.
   */
  readonly onConflict?: 'fail' | 'rebase';
}
