/** Looks into sealed records from outside: the cryptography of a simulated world hides nothing. Never decrypts, never waits. */
import { unpackBody } from '../../../src/codec/packer.ts';
import type { EffectClass, EffectKind, OutcomeStatus } from '../../../src/model/effect.ts';
import type { StoredRecord } from '../../../src/model/records.ts';

/** Beside checkpoints lie bases, and the pins of forks. */
export function isCheckpoint({ key }: { readonly key: string }): boolean {
  return !key.includes('.');
}

export function isPin({ key }: { readonly key: string }): boolean {
  return key.includes('.pin.');
}

function bodyOf(body: Uint8Array): readonly unknown[] {
  return unpackBody(body.subarray((body[3] ?? 0) === 1 ? 40 : 24, body.length - 16)) as readonly unknown[];
}

export interface SeenIntent {
  readonly number: number;
  readonly key: string;
  readonly step: string;
  readonly attempt: number;
  readonly kind: EffectKind;
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly notAfterMs: number;
  readonly epoch: number;
}

export function seeIntent({ key, body }: Pick<StoredRecord, 'key' | 'body'>): SeenIntent {
  const items = bodyOf(body);
  return {
    number: Number.parseInt(key, 16),
    key: items[0] as string,
    step: items[1] as string,
    attempt: items[2] as number,
    kind: items[3] as EffectKind,
    name: items[4] as string,
    effectClass: items[5] as EffectClass,
    notAfterMs: items[8] as number,
    epoch: items[10] as number,
  };
}

export interface SeenOutcome {
  readonly status: OutcomeStatus;
  readonly by: string;
  readonly final: boolean;
}

export function seeOutcome({ body }: Pick<StoredRecord, 'body'>): SeenOutcome {
  const items = bodyOf(body);
  return { status: items[0] as OutcomeStatus, by: items[3] as string, final: items[5] as boolean };
}

export interface SeenCheckpoint {
  readonly id: string;
  readonly parent: string | null;
  readonly kind: string;
  readonly cause: string;
  readonly stateVersion: number;
  readonly node: string | null;
  readonly next: string | null;
  readonly visits: ReadonlyMap<string, number>;
  readonly status: string;
  readonly steps: number;
  readonly inboxTaken: number;
  /** Order of the input that its run began with. */
  readonly inboxOrder: number;
  readonly usage: number;
  readonly failureCode: string | undefined;
  /** Ledger entries that were begun by then. */
  readonly ledger: number;
  /** Entries above `after` and up to `to` were left behind. */
  readonly abandoned: readonly { readonly after: number; readonly to: number }[];
  /** Numbers of the ledger entries whose results were on offer. */
  readonly offered: readonly number[];
  /** Names of the fields that are in it. */
  readonly fields: readonly string[];
}

export function seeCheckpoint({ key, plain, body }: Pick<StoredRecord, 'key' | 'plain' | 'body'>): SeenCheckpoint {
  const items = bodyOf(body);
  const position = items[5] as readonly [string | null, string | null, readonly [string][], Map<string, number>];
  const control = items[6] as readonly unknown[];
  const past = (items[10] as readonly [[number, number][], [number, string][]] | undefined) ?? [[], []];
  const failure = control[18] as string | null;
  return {
    id: key,
    parent: plain.parent as string | null,
    kind: String(plain.kind),
    cause: items[0] as string,
    stateVersion: items[1] as number,
    node: position[0],
    next: position[2][0]?.[0] ?? null,
    visits: position[3],
    status: control[0] as string,
    steps: (control[1] as readonly [number])[0],
    inboxTaken: control[3] as number,
    inboxOrder: (control[1] as readonly number[])[2] ?? 0,
    usage: sum((control[9] as readonly number[]).slice(0, 2)),
    failureCode: failure === null ? undefined : (JSON.parse(failure) as { code?: string }).code,
    ledger: (control[2] as readonly number[])[0] ?? 0,
    abandoned: past[0].map(([after, to]) => ({ after, to })),
    offered: past[1].flatMap(([entry, choice]) => (choice === 'reuse' ? [entry] : [])),
    fields: [...(items[8] as Map<string, unknown>).keys()],
  };
}

/** Orders of the inputs that a cancel dropped, by the events of one commit. */
export function seeDropped({ body }: Pick<StoredRecord, 'body'>): readonly number[] {
  const [events] = bodyOf(body) as readonly [readonly [string, number, Map<string, unknown>][]];
  return events.flatMap(([type, , details]) => (type === 'input_dropped' ? [details.get('order') as number] : []));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
