/** What a node does with the state alone. */
import type { OpKind } from '../plan/plan.ts';

export interface AddOp {
  readonly op: 'add';
  readonly by: number;
}

export const add: OpKind<AddOp> = {
  weight: 2,
  invent: (dice) => ({ op: 'add', by: dice.between(1, 9) }),
  async run({ by }, { draft }) {
    draft.total += by;
  },
};

/** A value so large that it is stored apart. */
export interface BigOp {
  readonly op: 'big';
  readonly letter: string;
}

const bigLength = 9_000;

export const big: OpKind<BigOp> = {
  weight: 1,
  invent: (dice) => ({ op: 'big', letter: dice.pick(['a', 'b', 'ü']) }),
  async run({ letter }, { draft }) {
    draft.big = letter.repeat(bigLength);
  },
};

/** Reads what earlier steps wrote. */
export interface RecallOp {
  readonly op: 'recall';
  readonly count: number;
}

export const recall: OpKind<RecallOp> = {
  weight: 2,
  invent: (dice) => ({ op: 'recall', count: dice.between(1, 3) }),
  async run({ count }, { place, state, draft }) {
    const known = await state.notes.tail(count);
    draft.notes.push(`${place} of ${state.notes.length}: ${known.map((note) => note.slice(0, 24)).join('|')}`);
  },
};
