import type { Fields, UpdateOf } from '../model/fields.ts';

/** How a node ends: made by `goto`, `end` and `update` of its context. */
export type NodeResult<F extends Fields, N extends string> =
  | { readonly type: 'goto'; readonly node: N; readonly update: UpdateOf<F> }
  | { readonly type: 'end'; readonly update: UpdateOf<F> }
  /** Goes where the node's edge leads. */
  | { readonly type: 'update'; readonly update: UpdateOf<F> };
