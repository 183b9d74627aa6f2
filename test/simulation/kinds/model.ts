/** Model calls. The model answers differently each time it is asked: only what is on record can come again. */
import type { OpKind } from '../plan/plan.ts';

export interface AskOp {
  readonly op: 'ask';
  /** How often the answer breaks off before it is whole. */
  readonly breaksOff: number;
  readonly onFailure: 'note' | 'throw';
}

export const ask: OpKind<AskOp> = {
  weight: 4,
  invent: (dice) => ({ op: 'ask', breaksOff: dice.percent(20) ? dice.between(1, 4) : 0, onFailure: 'note' }),
  async run({ breaksOff, onFailure }, { place, scope, draft }) {
    try {
      const text = await scope.model.text(`${place} ${breaksOff}`);
      draft.notes.push(`${place} = ${text}`);
      draft.last = text;
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (code === undefined || onFailure === 'throw') throw error;
      draft.notes.push(`${place} ! ${String(code)}`);
    }
  },
};
