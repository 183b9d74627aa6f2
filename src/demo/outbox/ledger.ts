import { fileJournal, memoryJournal } from './journal.ts';
import { type Delivery, isAttempt, isDelivery, isRecord, type Message } from './message.ts';
import { OutboxError } from './outbox-error.ts';

/** One line of the file. */
type Entry =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'closed'; readonly key: string; readonly attempt: number }
  | { readonly kind: 'emptied' };

export interface LedgerOptions {
  readonly file: string | undefined;
  readonly deduplicate: boolean;
  readonly now: () => Date;
  readonly makeId: () => string;
}

/**
 * What was delivered, and which attempts may no longer deliver.
 *
 * I1. Every method decides and writes in one synchronous act; what it returns is on the disk, if there is a file.
 * I2. After `closeKey(key, n)` no attempt up to n delivers under this key: its answer stays true.
 * I3. `empty` clears the list that people see. Keys stay known and closed: what went out cannot be taken back.
 */
export class Ledger {
  readonly #journal;
  readonly #options: LedgerOptions;
  readonly #firstByKey = new Map<string, Delivery>();
  readonly #closedUpTo = new Map<string, number>();
  #deliveries: Delivery[] = [];

  /** @throws {OutboxError} `file_damaged`. */
  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#journal = options.file === undefined ? memoryJournal<Entry>() : fileJournal<Entry>(options.file, entryFrom);
    for (const entry of this.#journal.earlier) this.#apply(entry);
  }

  /** Oldest first. */
  deliveries(): readonly Delivery[] {
    return [...this.#deliveries];
  }

  /**
   * Delivers, or with `deduplicate` finds what this key delivered before (`isNew` is then false).
   *
   * @throws {OutboxError} `attempt_closed`.
   */
  deliver(message: Message, key: string, attempt: number): { readonly delivery: Delivery; readonly isNew: boolean } {
    const closedUpTo = this.#closedUpTo.get(key);
    if (closedUpTo !== undefined && attempt <= closedUpTo) throw attemptClosed(key, attempt, closedUpTo);
    const known = this.#options.deduplicate ? this.#firstByKey.get(key) : undefined;
    if (known) return { delivery: known, isNew: false };
    const { now, makeId } = this.#options;
    const { to, subject, body } = message;
    const delivery = { id: makeId(), key, attempt, receivedAt: now().toISOString(), to, subject, body };
    this.#record({ kind: 'delivered', delivery });
    return { delivery, isNew: true };
  }

  /** Closes the key against attempts up to `attempt`; returns what it had delivered by then, `null` if nothing. */
  closeKey(key: string, attempt: number): Delivery | null {
    if (attempt > (this.#closedUpTo.get(key) ?? -1)) this.#record({ kind: 'closed', key, attempt });
    return this.#firstByKey.get(key) ?? null;
  }

  empty(): void {
    if (this.#deliveries.length > 0) this.#record({ kind: 'emptied' });
  }

  dispose(): void {
    this.#journal.close();
  }

  #record(entry: Entry): void {
    this.#journal.append(entry);
    this.#apply(entry);
  }

  #apply(entry: Entry): void {
    switch (entry.kind) {
      case 'delivered':
        this.#deliveries.push(entry.delivery);
        if (!this.#firstByKey.has(entry.delivery.key)) this.#firstByKey.set(entry.delivery.key, entry.delivery);
        break;
      case 'closed':
        this.#closedUpTo.set(entry.key, entry.attempt);
        break;
      case 'emptied':
        this.#deliveries = [];
    }
  }
}

function entryFrom(value: unknown): Entry | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, delivery, key, attempt } = value;
  if (kind === 'delivered' && isDelivery(delivery)) return { kind, delivery };
  if (kind === 'closed' && typeof key === 'string' && isAttempt(attempt)) return { kind, key, attempt };
  return kind === 'emptied' ? { kind } : undefined;
}

function attemptClosed(key: string, attempt: number, closedUpTo: number): OutboxError {
  const message = `Attempt ${attempt} of ${key} is closed, as is every one up to ${closedUpTo}. Nothing was sent.`;
  return new OutboxError(409, 'attempt_closed', message);
}
