/** Waits of a node for something outside: an answer, an event, a time, the network. */
import type { OpKind, Site } from '../plan/plan.ts';
import type { Dice } from '../world/dice.ts';

export interface QuestionOp {
  readonly op: 'question';
  /** What the person says, answer by answer: what does not begin with "ok" is asked for again; `null` declines. */
  readonly replies: readonly (string | null)[];
}

const okAnswer = {
  '~standard': {
    version: 1 as const,
    vendor: 'simulation',
    validate: (value: unknown) =>
      typeof value === 'string' && value.startsWith('ok') ? { value } : { issues: [{ message: 'it is not ok' }] },
  },
};

export const question: OpKind<QuestionOp> = {
  weight: 0,
  invent: (dice) => ({
    op: 'question',
    replies: dice.pick([['ok'], ['ok'], ['no', 'ok then'], [null], ['x', 'y', 'ok']]),
  }),
  run: ({ replies }, site) =>
    noted(site, () =>
      site.scope.ask(`What of ${site.place}?`, { show: { place: site.place, replies }, answer: okAnswer }),
    ),
};

export interface EventOp {
  readonly op: 'event';
  readonly name: string;
  readonly expiresMs: number;
}

export const eventNames = ['ping', 'pong'] as const;

export const event: OpKind<EventOp> = {
  weight: 0,
  invent: (dice: Dice) => ({ op: 'event', name: dice.pick(eventNames), expiresMs: dice.pick([500, 5_000]) }),
  run: ({ name, expiresMs }, site) => noted(site, () => site.scope.waitFor(name, { expiresMs }, site.place)),
};

export interface SleepOp {
  readonly op: 'sleep';
  readonly forMs: number;
}

export const sleep: OpKind<SleepOp> = {
  weight: 0,
  invent: (dice) => ({ op: 'sleep', forMs: dice.pick([0, 30, 2_000]) }),
  run: async ({ forMs }, { place, scope, draft }) => {
    await scope.sleep(forMs, undefined, place);
    draft.notes.push(`${place} slept`);
  },
};

export interface OnlineOp {
  readonly op: 'online';
}

export const online: OpKind<OnlineOp> = {
  weight: 0,
  invent: () => ({ op: 'online' }),
  run: (_, { scope }) => scope.online(),
};

/** Lines that failed, as the node behind their fork is told. */
export interface FailedLinesOp {
  readonly op: 'failed_lines';
}

export const failedLines: OpKind<FailedLinesOp> = {
  weight: 0,
  invent: () => ({ op: 'failed_lines' }),
  run: async (_, { place, failures, draft }) => {
    draft.notes.push(`${place}: ${failures.map(({ index, node }) => `${index} ${node}`).join(', ')}`);
  },
};

async function noted({ place, draft }: Site, wait: () => Promise<unknown>): Promise<void> {
  try {
    draft.notes.push(`${place} = ${String(await wait())}`);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code !== 'question_declined' && code !== 'wait_expired') throw error;
    draft.notes.push(`${place} ! ${String(code)}`);
  }
}
