/** A small agent whose calls end when the test says so, and what the tests of the host look at. */
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, secret, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import type { HostMethods, StreamMessage } from '../../src/protocol/host-api.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet, withMethods } from '../engine/support.ts';
import { Workers } from './workers.ts';

/** Acts as often as it is told to, each time when the test lets it; then asks for leave to send, if it is told to. */
export function given({ expiresMs }: { readonly expiresMs?: number } = {}) {
  const acts: { readonly end: () => void }[] = [];
  const sent: string[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({}),
    effect: 'idempotent',
    run: () => {
      const held = deferred<null>();
      acts.push({ end: () => held.resolve(null) });
      return held.promise;
    },
  });
  const send = tool({
    name: 'send',
    description: 'Sends a letter',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    ...(expiresMs !== undefined && { approvalExpiresMs: expiresMs }),
    /** To `hold` it takes until the test lets it. */
    run: async ({ to }) => {
      if (to === 'hold') await act.run({}, {} as never);
      sent.push(to);
      return to;
    },
  });
  const agent = defineAgent({
    name: 'acting',
    version: 1,
    state: {
      left: value(z.number(), 0),
      to: value(z.string(), ''),
      beside: value(z.boolean(), false),
      notes: log(z.string()),
      token: secret(z.string()),
    },
    tools: { act, send },
    rehydrate: () => ({ token: 'hush' }),
    start: 'act',
    nodes: {
      async act({ left, beside, to }, { call, all, goto, end }) {
        if (beside) {
          const ended = await all(['send', 'act'] as const, (tool, scope) =>
            scope.call(tool, { to }).then(
              () => tool,
              (error: { code: string }) => error.code,
            ),
          );
          return end({ notes: ended.filter((what) => what !== 'act') });
        }
        if (left === 0) return goto('send');
        await call('act', {});
        return goto('act', { left: left - 1, notes: [`acted ${left}`] });
      },
      async send({ to }, { call, end }) {
        if (to === '') return end();
        return end({ notes: [await call('send', { to }).catch((error: { code: string }) => error.code)] });
      },
    },
  });
  return { workers: new Workers(agent), acts, sent };
}

/** Resolves when all has happened that can happen without time passing, in several workers. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await quiet();
}

/** The store, and how often a lease was taken through it. */
export function countingLeases(store: Store): { readonly store: Store; leases: number } {
  const counting = {
    leases: 0,
    store: withMethods(store, {
      takeLease: (...args) => {
        counting.leases += 1;
        return store.takeLease(...args);
      },
    }),
  };
  return counting;
}

export const statusIn = async (host: HostMethods) => (await host.view('t'))?.status;
export const notesIn = async (host: HostMethods) => (await host.state('t', null)).notes;

/** The stream of the thread, as a page gets it. */
export async function watched(host: HostMethods): Promise<{ readonly messages: StreamMessage[]; stop(): void }> {
  const { port1, port2 } = new MessageChannel();
  const messages: StreamMessage[] = [];
  port1.onmessage = ({ data }: MessageEvent<StreamMessage>) => messages.push(data);
  await host.watch('t', port2);
  return { messages, stop: () => port1.close() };
}
