/** What the ledger holds of the step that is being run: its earlier attempts' entries, by effect key. */
import { equalBytes } from '../base/bytes.ts';
import type { ErrorData } from '../base/errors.ts';
import { type LedgerEntry, ledgerKey, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { EffectInfo, EffectKind, EffectStatus } from '../model/effect.ts';
import type { EffectKey, StepId } from '../model/ids.ts';
import { programErrors } from '../program/errors.ts';

export class StepLedger {
  readonly step: StepId;
  /** Entries that were begun and cannot be read: what they recorded is in doubt, not "never called" (PROTOCOL 3). */
  readonly lost: readonly { readonly number: number; readonly reason: string }[];
  /** Values of clock and chance by their place. */
  readonly inputs: Map<string, number>;
  /** Answers of models that were paid for on a lineage that was left. */
  readonly paid = new WeakSet<object>();
  readonly #entries = new Map<EffectKey, LedgerEntry[]>();
  /** Numbers of the entries that were on record when this run of the step began. */
  readonly #earlier: ReadonlySet<number>;
  readonly #asked = new Set<EffectKey>();
  readonly #arriving = new Map<EffectKey, Set<Promise<void>>>();

  private constructor(step: StepId, entries: readonly LedgerEntry[], lost: StepLedger['lost']) {
    this.step = step;
    this.lost = lost;
    this.inputs = new Map(entries.flatMap(({ intent }) => intent.inputs));
    this.#earlier = new Set(entries.map(({ intent }) => intent.number));
    for (const entry of entries) this.add(entry);
  }

  /** Whether an earlier run of the step made this attempt: what became of it may be on record by now. */
  isEarlier(number: number): boolean {
    return this.#earlier.has(number);
  }

  /** @param digest the running digest that the thread names: an entry that does not lead to it is not the one that was written. */
  static async read(
    codec: ThreadCodec,
    step: StepId,
    after: number,
    { count, digest }: { readonly count: number; readonly digest: Uint8Array },
  ): Promise<StepLedger> {
    if (count <= after) return new StepLedger(step, [], []);
    const { entries, lost } = await readLedger(codec, after, count);
    const last = entries.at(-1);
    const isForeign = last?.intent.number === count && !equalBytes(last.digest, digest);
    const foreign = isForeign ? [{ number: count, reason: 'it is not the one that the thread names' }] : [];
    const own = isForeign ? entries.slice(0, -1) : entries;
    return new StepLedger(
      step,
      own.filter(({ intent }) => intent.step === step),
      [...lost, ...foreign],
    );
  }

  /** Attempts at this effect so far, oldest first. Asking marks it as called on this run. */
  historyOf(key: EffectKey): readonly LedgerEntry[] {
    this.#asked.add(key);
    return this.#entries.get(key) ?? [];
  }

  /** Whether this effect was called on this run. */
  hasAsked(key: EffectKey): boolean {
    return this.#asked.has(key);
  }

  /** An answer to this effect has come and is being recorded: nothing more is called for it, also if that fails. */
  async arriving(key: EffectKey, recording: Promise<void>): Promise<void> {
    const all = this.#arriving.get(key) ?? new Set();
    this.#arriving.set(key, all.add(recording));
    await recording;
    all.delete(recording);
  }

  /** Resolves when no answer to this effect is being recorded any more. @throws why one could not be */
  async arrived(key: EffectKey): Promise<void> {
    await Promise.all(this.#arriving.get(key) ?? []);
  }

  /** Whether nothing is to be called for this effect any more: its result is on record, or about to be. */
  isAnswered(key: EffectKey): boolean {
    return (this.#arriving.get(key)?.size ?? 0) > 0 || this.historyOf(key).some(settles);
  }

  /** @throws `replay_mismatch` if a call is on record under this key: what is asked for instead is none. */
  refuseCallAt(key: EffectKey, called: string): void {
    const [first] = this.#entries.get(key) ?? [];
    if (first === undefined) return;
    const recorded = describeCall(first.intent.name, first.intent.askedDigest, first.intent.kind);
    throw programErrors.make('replay_mismatch', { step: this.step, recorded, called });
  }

  /** Adds what is known of an attempt to what was known before: an outcome may come while a doubt is being written. */
  add(entry: LedgerEntry): void {
    const { key, number } = entry.intent;
    const known = this.#entries.get(key) ?? [];
    const before = known.find(({ intent }) => intent.number === number);
    const merged = { ...entry, outcome: entry.outcome ?? before?.outcome, doubt: entry.doubt ?? before?.doubt };
    const all = [...known.filter((other) => other !== before), merged];
    this.#entries.set(
      key,
      all.sort((a, b) => a.intent.number - b.intent.number),
    );
  }

  /** All attempts at all effects of the step, oldest first within each. */
  get entries(): readonly LedgerEntry[] {
    return [...this.#entries.values()].flat();
  }

  /** Entries of abandoned lineages whose results this step was given. */
  get reused(): ReadonlySet<number> {
    const sources = [...this.#entries.values()].flat().map(({ outcome }) => outcome?.source);
    return new Set(sources.filter((source) => source !== undefined));
  }

  /**
   * Number up to which the entries on record are behind the step once it has ended, while steps up to entry `to` run again: that
   * of its own newest one. All of them, if it made a call that was not on record, and none is lost: nobody was further.
   *
   * @param isPlaced false where others are on record under ids that are not known any more: one that is not proves nothing then.
   */
  reached(from: number, to: number, isPlaced: boolean): number {
    const { entries } = this;
    if (isPlaced && this.lost.length === 0 && entries.some((entry) => isCall(entry) && entry.intent.number > to))
      return to;
    return Math.max(from, ...entries.map(({ intent }) => intent.number).filter((number) => number <= to));
  }

  /** Failed attempts of the node itself. */
  get nodeFailures(): readonly LedgerEntry[] {
    return this.entries.filter(({ intent }) => intent.kind === 'node');
  }

  /** The failure that used up the node's attempts, if a crash came between it and what was to be done about it. */
  get spentBy(): ErrorData | undefined {
    const outcome = this.nodeFailures.at(-1)?.outcome;
    return outcome?.final ? (outcome.error ?? undefined) : undefined;
  }

  /**
   * Called when the node returned: every recorded call must have been made again (I6, PROTOCOL 1).
   *
   * @throws `replay_mismatch`
   */
  refuseForgotten(): void {
    for (const [key, entries] of this.#entries) {
      const [first] = entries;
      if (first === undefined || this.#asked.has(key)) continue;
      if (!isCall(first)) continue;
      const recorded = `${describeCall(first.intent.name, first.intent.askedDigest, first.intent.kind)} (entry ${ledgerKey(first.intent.number, 'i')})`;
      throw programErrors.make('replay_mismatch', { step: this.step, recorded, called: 'nothing' });
    }
  }
}

/** @throws `replay_mismatch`, with both, if this is not the call that is on record in its place (PROTOCOL 1). */
export function refuseOtherCall(
  { intent }: LedgerEntry,
  recorded: string,
  { kind, name, digest }: { readonly kind: EffectKind; readonly name: string; readonly digest: string },
): void {
  if (recorded === name && intent.askedDigest === digest && intent.kind === kind) return;
  throw programErrors.make('replay_mismatch', {
    step: intent.step,
    recorded: describeCall(intent.name, intent.askedDigest, intent.kind),
    called: describeCall(name, digest, kind),
  });
}

export function describeCall(name: string, digest: string, kind?: EffectKind): string {
  return kind === 'child'
    ? `child "${name}" with an input of digest ${digest}`
    : `"${name}" with arguments of digest ${digest}`;
}

/** Whether a node made it: a call of a tool or a model, or a child that it started. */
export function isCall({ intent: { kind } }: Pick<LedgerEntry, 'intent'>): boolean {
  return kind === 'tool' || kind === 'model' || kind === 'child';
}

/** Whether the effect's result is known by this attempt: nothing is called for it any more. Spent retries are one (PROTOCOL 3). */
export function settles({ outcome }: Pick<LedgerEntry, 'outcome'>): boolean {
  return outcome !== undefined && (outcome.status !== 'failed' || outcome.final);
}

/** The attempt whose result the node gets. Settling one closes the older ones, so that a late answer changes nothing. */
export function firstSettled(history: readonly LedgerEntry[]): LedgerEntry | undefined {
  return history.find(settles);
}

/** Ended badly. An attempt that a crash cut off does not count: the thread's resume count bounds those. */
export function hasFailed({ outcome, doubt }: Pick<LedgerEntry, 'outcome' | 'doubt'>): boolean {
  if (outcome?.status === 'failed' && outcome.by === 'call') return true;
  return doubt !== undefined && !isSuccessLost(doubt.reason);
}

/** It went well, and its result is gone with a process that found the disk full. */
function isSuccessLost({ code, details }: ErrorData): boolean {
  return code === 'result_not_stored' && (details as { readonly status?: unknown } | undefined)?.status === 'succeeded';
}

/** A child goes on by itself, and is found again: how it stands is never in doubt. */
function statusOf({ intent, outcome, doubt }: LedgerEntry, isLive: boolean): EffectStatus {
  if (outcome !== undefined) return outcome.status;
  return intent.kind === 'child' || (isLive && doubt === undefined) ? 'in_progress' : 'in_doubt';
}

export function effectInfo(entry: LedgerEntry, isLive: boolean): EffectInfo {
  const { number, key, step, attempt, kind, name, effectClass, atMs } = entry.intent;
  const error = entry.outcome?.error ?? entry.doubt?.reason ?? null;
  return { number, key, step, attempt, kind, name, effectClass, status: statusOf(entry, isLive), atMs, error };
}
