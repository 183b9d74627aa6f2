import type { ValueChange } from './diff.ts';

/** What a log has behind the common part: how many items, and the first 100 of them. */
export interface LogSide {
  readonly count: number;
  readonly items: readonly unknown[];
}

export type FieldDiff =
  | {
      readonly field: string;
      readonly kind: 'value';
      readonly change: 'added' | 'removed' | 'changed';
      /** Empty path: the whole value. */
      readonly changes: readonly ValueChange[];
      readonly isComplete: boolean;
    }
  | {
      readonly field: string;
      readonly kind: 'log';
      readonly change: 'added' | 'removed' | 'changed';
      /** Items that both begin with. */
      readonly common: number;
      readonly before: LogSide;
      readonly after: LogSide;
    };
