/** What goes wrong in a world, by the number of the operation at which it does: what simulators usually miss included (PROTOCOL 10). */

import { sequenceOf, sortable } from '../../../src/model/ids.ts';
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts';
import type { Size } from '../plan/invent.ts';
import type { Dice } from './dice.ts';
import type { Interruption, Life, Operation } from './life.ts';
import { isPin } from './peek.ts';
import { databaseName, type StoreTrouble, spoil, troubleOf } from './sim-store.ts';
import type { Trouble, World } from './world.ts';

export type Side = 'before' | 'sent' | 'after';

export type Fault =
  | {
      readonly kind: 'crash';
      readonly side: Side;
      readonly power?: boolean;
      readonly spoils?: 'lose' | 'damage';
      /** The newest intent or the head, not one by chance. */
      readonly newest?: boolean;
      /** What is spoiled: one record, or every checkpoint and what the first one changed. Default: the ledger. */
      readonly of?: 'ledger' | 'state' | 'all_states';
    }
  /** So many operations in a row that fit are refused; `timed_out` may have been carried out. */
  | {
      readonly kind: 'store';
      readonly code: StoreTrouble;
      readonly applied: boolean;
      readonly times: number;
      readonly only: 'any' | 'commit' | 'result';
    }
  | { readonly kind: 'freeze'; readonly side: Side; readonly forMs: number; readonly heirAfterMs: number | null }
  /** One operation of the store takes so long; what the process does beside it goes on. */
  | { readonly kind: 'hold'; readonly forMs: number }
  /** One request is on its way for so long. */
  | { readonly kind: 'slow_way'; readonly forMs: number }
  | { readonly kind: 'steal' }
  | { readonly kind: 'jump'; readonly byMs: number }
  | { readonly kind: 'delete' }
  | { readonly kind: 'stop' }
  /** Code of an older version takes over for a while. */
  | { readonly kind: 'older_code' }
  /** Code of a newer version takes over, for good. */
  | { readonly kind: 'newer_code' };

export interface DueFault {
  readonly at: number;
  readonly fault: Fault;
}

/** Faults in the order of the operations at which they are due. */
export class Troubles implements Trouble {
  readonly #due: readonly DueFault[];
  #next = 0;
  #burst: { left: number; fault: Extract<Fault, { kind: 'store' }> } | undefined;

  constructor(due: readonly DueFault[]) {
    this.#due = due;
  }

  /** How many of the faults happened. */
  get met(): number {
    return this.#next;
  }

  meet(world: World, life: Life, operation: Operation, number: number): Interruption | undefined {
    const burst = this.#burst;
    if (burst !== undefined && fits(burst.fault, operation)) {
      burst.left -= 1;
      if (burst.left <= 0) this.#burst = undefined;
      return refusal(world, burst.fault, operation);
    }
    const due = this.#due[this.#next];
    if (due === undefined || number < due.at) return undefined;
    const { fault } = due;
    if (fault.kind === 'store' && !fits(fault, operation)) return undefined;
    this.#next += 1;
    world.findings.trace(`${number} ${JSON.stringify(fault)}`);
    if (fault.kind !== 'store') return strike(world, life, operation, fault);
    if (fault.times > 1) this.#burst = { left: fault.times - 1, fault };
    return refusal(world, fault, operation);
  }
}

function fits({ only }: Extract<Fault, { kind: 'store' }>, { kind, name, groups }: Operation): boolean {
  if (kind !== 'store') return false;
  if (only === 'any') return true;
  if (name !== 'commit') return false;
  return (
    only === 'commit' ||
    groups?.some(({ records }) => records.some(({ table, key }) => table === 'ledger' && key.endsWith('.o'))) === true
  );
}

function refusal(
  world: World,
  { code, applied, only }: Extract<Fault, { kind: 'store' }>,
  { name }: Operation,
): Interruption {
  world.counts.storeFaults += 1;
  if (applied) world.met.add('a commit that is applied and not acknowledged');
  if (only === 'result' && code === 'quota_exceeded') world.met.add('a quota that fails results only');
  return { fails: { error: troubleOf(code, name), applied } };
}

function strike(
  world: World,
  life: Life,
  operation: Operation,
  fault: Exclude<Fault, { kind: 'store' }>,
): Interruption {
  switch (fault.kind) {
    case 'crash': {
      if (operation.kind === 'outside' && fault.side === 'sent')
        world.outside.nextWayMs = world.dice.between(20, 3_000);
      return {
        [fault.side]: () => {
          const isRecovering = world.watch.isRecovering(life);
          world.met.crash(operation, isRecovering, fault.side !== 'before');
          crash(world, life, fault);
        },
      };
    }
    case 'freeze': {
      const { groups } = operation;
      // Between its last check and the call only a process stands still whose lease is stolen meanwhile: what then leaves, leaves late.
      const isLate = operation.kind === 'outside' && fault.side === 'before' && fault.heirAfterMs !== null;
      const side = operation.kind !== 'outside' || isLate ? fault.side : fault.side === 'after' ? 'after' : 'sent';
      if (isLate) world.met.add('a freeze between the last check and the call');
      const isIntent = groups?.some(({ records }) => records.some(({ key }) => key.endsWith('.r'))) === true;
      if (side === 'after' && isIntent) world.met.add('a freeze between the intent and its call');
      return { [side]: () => freeze(world, life, fault) };
    }
    case 'hold':
      // Between the last check and a call nothing comes: they are one task.
      return operation.kind === 'outside' ? {} : { hold: () => world.timeline.wait(fault.forMs) };
    case 'slow_way':
      world.outside.nextWayMs = fault.forMs;
      return {};
    case 'steal':
      world.counts.steals += 1;
      world.start();
      return {};
    case 'jump':
      world.counts.jumps += 1;
      return { sent: () => world.timeline.jump(fault.byMs) };
    case 'delete':
      return { after: () => deleteThread(world) };
    case 'stop':
      world.counts.stops += 1;
      void world.newest()?.stop();
      return {};
    case 'older_code':
      return { after: () => olderCode(world) };
    case 'newer_code':
      world.counts.crashes += 1;
      return { [operation.kind === 'outside' ? 'sent' : 'after']: () => world.deploy(world.version + 1) };
  }
}

function crash(world: World, life: Life, { power, spoils, newest, of }: Extract<Fault, { kind: 'crash' }>): void {
  world.counts.crashes += 1;
  if (power === true) world.cutPower();
  else world.kill(life);
  if (spoils === undefined) return;
  if (of === 'all_states') spoilAllStates(world, spoils);
  else if (of === 'state') spoilState(world, spoils, newest === true);
  else spoilNewest(world, spoils, newest === true);
}

/** One of the newest checkpoints is gone, or does not open. Nothing is lost by that: the thread is repaired. */
function spoilState({ data, watch, counts, dice, findings }: World, how: 'lose' | 'damage', exactly: boolean): void {
  const { hash } = watch;
  const row = hash && data.threads.get(hash);
  if (row === undefined || row.head === null) return;
  const all = data.records('checkpoints', row.thread).range({ reverse: true, limit: 8 });
  const known = all.filter((record) => !isPin(record)).slice(0, 4);
  const key = exactly ? row.head : (known[dice.below(known.length)]?.key ?? row.head);
  if (!spoil(data, 'checkpoints', row.thread, key, how)) return;
  findings.trace(`${how} checkpoints/${key}`);
  counts.spoiled += 1;
  watch.spoiled.add(`checkpoints/${key}`);
}

/** Nothing is left of the state: the thread goes on from its inputs, where they are all there still. */
function spoilAllStates({ data, watch, counts, findings }: World, how: 'lose' | 'damage'): void {
  const { hash } = watch;
  const row = hash && data.threads.get(hash);
  const [input] = hash === undefined ? [] : data.records('inbox', hash).range({ from: 'o:', limit: 1 });
  if (row === undefined || row.head === null || input?.key !== `o:${sortable(1)}`) return;
  const states = data.records('checkpoints', row.thread).range({});
  const [first] = data.records('events', row.thread).range({ limit: 1 });
  if (first !== undefined && sequenceOf(first.key) !== 0) return;
  for (const record of states.filter((each) => !isPin(each))) {
    spoil(data, 'checkpoints', row.thread, record.key, how);
    watch.spoiled.add(`checkpoints/${record.key}`);
  }
  if (first !== undefined) {
    spoil(data, 'events', row.thread, first.key, how);
    watch.spoiled.add(`events/${first.key}`);
  }
  findings.trace(`${how} all states`);
  counts.spoiled += 1;
}

/** A record of one of the newest entries of the ledger is gone, or does not open. */
function spoilNewest(
  { data, watch, counts, dice, findings, met }: World,
  how: 'lose' | 'damage',
  exactly: boolean,
): void {
  const { hash } = watch;
  const row = hash && data.threads.get(hash);
  if (row === undefined || row.ledger === 0) return;
  const number = Math.max(1, row.ledger - (exactly ? 0 : dice.below(2)));
  const key = `${number.toString(16).padStart(10, '0')}.${exactly || dice.percent(70) ? 'i' : 'o'}`;
  if (!spoil(data, 'ledger', row.thread, key, how)) return;
  findings.trace(`${how} ledger/${key}`);
  counts.losses += 1;
  met.add('a record that is lost with its process');
  watch.hasLosses = true;
  if (how === 'damage') watch.damaged.add(key);
  watch.rescan();
}

function freeze(world: World, life: Life, { forMs, heirAfterMs }: Extract<Fault, { kind: 'freeze' }>): void {
  world.counts.freezes += 1;
  life.freeze();
  const { timeline } = world;
  timeline.after(
    forMs,
    () => life.wake(),
    () => life.isOver,
  );
  if (heirAfterMs !== null)
    timeline.after(
      heirAfterMs,
      () => world.start(),
      () => life.isOver || !life.isFrozen,
    );
}

function deleteThread(world: World): void {
  const { data, timeline } = world;
  const { row } = world.watch;
  if (row === undefined) return;
  world.unflushed.flush();
  void new MemoryStore({ name: databaseName, data }).deleteThread(row.thread, row.incarnation, timeline.wallMs);
  world.threadIsGone();
}

function olderCode(world: World): void {
  const current = world.version;
  if (current === 1) return; // there is none: the newer one never came
  world.counts.crashes += 1;
  world.met.add('older code that takes over from newer');
  world.deploy(current - 1);
  world.timeline.after(5_000, () => {
    world.deploy(current);
  });
}

/** What goes wrong in the world of a seed. Clocks that jump and callers that are frozen exclude each other: no time says then when a call is over. */
export function inventTroubles(
  dice: Dice,
  size: Size,
): { readonly due: readonly DueFault[]; readonly hasJumps: boolean } {
  const hasJumps = dice.percent(15);
  const isSmall = size === 'small';
  const count = isSmall ? dice.pick([1, 1, 1, 2]) : dice.pick([0, 1, 1, 2, 2, 3, 4, 5]);
  const due: DueFault[] = [];
  for (let index = 0, at = dice.between(1, isSmall ? 30 : 60); index < count; index += 1) {
    due.push({ at, fault: inventFault(dice, hasJumps) });
    at += dice.between(1, 30);
  }
  return { due, hasJumps };
}

function inventFault(dice: Dice, hasJumps: boolean): Fault {
  const side = dice.pick<Side>(['before', 'sent', 'after']);
  const choice = dice.below(100);
  if (choice < 45) {
    const spoils = dice.percent(18) ? dice.pick<'lose' | 'damage'>(['lose', 'damage']) : undefined;
    const of = dice.pick(['state', 'state', 'all_states', 'ledger', 'ledger'] as const);
    return { kind: 'crash', side, power: dice.percent(25), ...(spoils && { spoils, of }) };
  }
  if (choice < 68) {
    const code = dice.pick<StoreTrouble>(['store_failed', 'quota_exceeded', 'timed_out', 'timed_out']);
    const only = dice.pick<'any' | 'commit' | 'result'>(['any', 'commit', 'commit', 'result']);
    return {
      kind: 'store',
      code,
      applied: code === 'timed_out' && dice.percent(70),
      times: dice.pick([1, 1, 2, 3, 5]),
      only,
    };
  }
  if (choice < 70) return { kind: 'delete' };
  if (choice < 75) return { kind: 'hold', forMs: dice.pick([3, 40, 1_500]) };
  if (choice < 80) return { kind: 'stop' };
  if (hasJumps) return { kind: 'jump', byMs: dice.pick([-3_600_000, -5_000, 5_000, 30_000, 3_600_000]) };
  if (choice < 85) return { kind: 'steal' };
  const forMs = dice.pick([50, 1_000, 9_000, 15_000, 40_000]);
  return { kind: 'freeze', side, forMs, heirAfterMs: dice.percent(75) ? dice.between(1, forMs) : null };
}
