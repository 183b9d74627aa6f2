import type { LedgerEntry } from '../codec/ledger-codec.ts';

export type CallKind = 'model' | 'tool' | 'load';

/** Whether this is a call of that kind; `load` is a read. */
export function isCallOf({ intent }: LedgerEntry, kind: CallKind): boolean {
  return kind === 'load' ? intent.kind === 'tool' && intent.effectClass === 'read' : intent.kind === kind;
}

/** Whether the call was made, or may have been, and is one that nothing makes again by itself: no policy does (PROTOCOL 3 and 4). */
export function mustNotRepeat({ intent, outcome }: LedgerEntry): boolean {
  const isOnce = intent.effectClass === 'once' && (intent.kind === 'tool' || intent.kind === 'child');
  return isOnce && outcome?.status !== 'failed';
}
