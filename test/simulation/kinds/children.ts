/** A child on a thread of its own. Its input is the place where it was started, so that all it does has a place in the world. */
import { childName, type OpKind } from '../plan/plan.ts';

export interface ChildOp {
  readonly op: 'child';
}

export const child: OpKind<ChildOp> = {
  weight: 0,
  invent: () => ({ op: 'child' }),
  run: async (_, { place, scope, draft }) => {
    const { status, state } = await scope.child({ name: childName }, { input: place });
    draft.notes.push(`${place} child ${status}: ${state === null ? '' : `${state.total}, ${state.last}`}`);
  },
};

/** Children side by side. */
export interface ChildrenOp {
  readonly op: 'children';
  readonly count: number;
}

export const children: OpKind<ChildrenOp> = {
  weight: 0,
  invent: (dice) => ({ op: 'children', count: dice.pick([2, 3]) }),
  run: async ({ count }, site) => {
    const indices = Array.from({ length: count }, (_, index) => index);
    await site.scope
      .all(indices, async (index, scope) => {
        const place = `${site.place}.${index}`;
        const { status, state } = await scope.child({ name: childName }, { input: place });
        return `${place} child ${status}: ${state === null ? '' : `${state.total}, ${state.last}`}`;
      })
      .then((notes) => site.draft.notes.push(...notes));
  },
};
