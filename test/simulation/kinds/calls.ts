/** Calls of tools: one, several side by side, and what the clock and chance said to go with them. */
import type { Behaviour, CallArgs, OpKind, PersonMood, Site } from '../plan/plan.ts';
import { type ToolName, toolNames } from '../plan/tools.ts';
import type { Dice } from '../world/dice.ts';
import type { Op } from './table.ts';

export interface CallOp extends Pick<CallArgs, 'behaves' | 'verifies' | 'ask' | 'size'> {
  readonly op: 'call';
  readonly tool: ToolName;
  /** Whether clock and chance go with it. */
  readonly reads: boolean;
  /** `note`: a failure is written down. `throw`: it fails the node. */
  readonly onFailure: 'note' | 'throw';
}

/** A call that goes well, but for what is said. */
export function callOf(tool: ToolName, changed: Partial<CallOp> = {}): CallOp {
  return {
    op: 'call',
    tool,
    behaves: [],
    verifies: [],
    ask: null,
    size: 0,
    reads: false,
    onFailure: 'note',
    ...changed,
  };
}

const troubles: readonly [readonly Behaviour[], ...(readonly Behaviour[])[]] = [
  ['refuse'],
  ['refuse', 'refuse'],
  ['error'],
  ['lost'],
  ['slow'],
  ['error', 'refuse'],
  ['lost', 'lost'],
  ['refuse', 'lost'],
  ['refuse_for_good'],
  ['refuse', 'refuse', 'refuse', 'refuse', 'refuse', 'refuse'],
  ['error', 'error', 'error', 'error', 'error', 'error', 'error', 'error'],
];
const moods: readonly [PersonMood, ...PersonMood[]] = [
  'allow',
  'allow',
  'allow',
  'deny',
  'edit',
  'for_thread',
  'ignore',
];

export const call: OpKind<CallOp> = {
  weight: 8,
  invent: (dice) =>
    callOf(dice.pick(toolNames), {
      behaves: dice.percent(35) ? dice.pick(troubles) : [],
      verifies: dice.percent(10) ? [dice.pick(['error', 'unknown'])] : [],
      ask: dice.percent(25) ? dice.pick(moods) : null,
      size: dice.percent(4) ? 6_000 : 0,
      reads: dice.percent(30),
      onFailure: dice.percent(6) ? 'throw' : 'note',
    }),
  run: (op, site) => runCall(op, site),
};

async function runCall(op: CallOp, site: Site, key?: string): Promise<void> {
  const { place, scope, draft } = site;
  const reads = op.reads ? [scope.now(place), scope.random(place)] : [];
  const { behaves, verifies, ask, size } = op;
  try {
    const args = { place, text: 'as planned', behaves, verifies, ask, reads, size };
    const result = await scope.call(op.tool, args, key === undefined ? undefined : { key });
    draft.notes.push(`${place} = ${String(result)} at ${reads.join(' ')}`);
    draft.last = String(result);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === undefined || op.onFailure === 'throw') throw error;
    draft.notes.push(`${place} ! ${String(code)}`);
  }
}

export interface AllOp {
  readonly op: 'all';
  readonly items: readonly Op[];
}

export const all: OpKind<AllOp> = {
  weight: 2,
  invent: (dice, inventOp) => ({ op: 'all', items: several(dice, inventOp) }),
  async run({ items }, site) {
    const drafts = await site.scope.all(items, async (op, scope, index) => {
      const draft = { notes: [], total: 0, last: undefined, big: undefined };
      await site.run(op, { ...site, scope, draft, place: `${site.place}.${index}` });
      return draft;
    });
    for (const draft of drafts) merge(site, draft);
  },
};

/** Only calls: an item that throws is another matter. */
function several(dice: Dice, inventOp: (dice: Dice) => Op): readonly Op[] {
  return Array.from({ length: dice.between(2, 3) }, () => {
    const op = inventOp(dice);
    return op.op === 'call' || op.op === 'ask' ? { ...op, onFailure: 'note' as const } : callOf('put');
  });
}

function merge({ draft }: Site, part: Site['draft']): void {
  draft.notes.push(...part.notes);
  draft.total += part.total;
  draft.last = part.last ?? draft.last;
  draft.big = part.big ?? draft.big;
}

/** Calls beside one another, told apart by keys of their own. */
export interface KeyedOp {
  readonly op: 'keyed';
  readonly calls: readonly CallOp[];
}

export const keyed: OpKind<KeyedOp> = {
  weight: 1,
  invent: (dice, inventOp) => ({
    op: 'keyed',
    calls: [0, 1].map(() => ({ ...call.invent(dice, inventOp), reads: false, onFailure: 'note' as const })),
  }),
  async run({ calls }, site) {
    const drafts = await Promise.all(
      calls.map(async (op, index) => {
        const draft = { notes: [], total: 0, last: undefined, big: undefined };
        const place = `${site.place}.${index}`;
        await runCall(op, { ...site, draft, place }, place.slice(place.lastIndexOf('/') + 1));
        return draft;
      }),
    );
    for (const draft of drafts) merge(site, draft);
  },
};
