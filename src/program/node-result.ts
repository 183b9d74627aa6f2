import type { Fields, UpdateOf } from '../model/fields.ts';

/** One line of a fork: the node it begins at, and what that node finds as its item. */
export interface Branch {
  readonly node: string;
  readonly item?: unknown;
}

export interface ForkOptions<N extends string> {
  /** The node that goes on when all lines have ended. Without it, the line that forked ends then. */
  readonly join?: N;
  /**
   * What a line that failed does. `stop` (default): the run fails once the others have ended, and keeps what they did.
   * `collect`: the next node finds them in `failures`.
   */
  readonly failures?: 'stop' | 'collect';
  /** Lines that run at the same time. Default 8. */
  readonly limit?: number;
}

/** How a node ends: made by the functions of its context. */
export type NodeResult<F extends Fields, N extends string> =
  | { readonly type: 'goto'; readonly node: N; readonly update: UpdateOf<F> }
  | { readonly type: 'end'; readonly update: UpdateOf<F> }
  /** Goes where the node's edge leads. */
  | { readonly type: 'update'; readonly update: UpdateOf<F> }
  | {
      readonly type: 'fork';
      readonly branches: readonly Branch[];
      readonly update: UpdateOf<F>;
      readonly options: ForkOptions<N>;
    };
