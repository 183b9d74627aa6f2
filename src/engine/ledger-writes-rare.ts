/** Entries of the ledger that few runs write. */
import { type ErrorData, errorToData } from '../base/errors.ts';
import { type StoredIntent, sealDoubt, sealOutcome } from '../codec/ledger-codec.ts';
import type { KnownEffect } from './effect-request.ts';
import { type Finding, intentOf, outcomeOf, remember, writeIntent } from './ledger-writes.ts';
import { encodeWithDigest, type StepRun } from './step-run.ts';

/** An entry for a call whose own entry was lost: it may have been made, so it begins in doubt (PROTOCOL 3). */
export async function recordLostCall(
  run: StepRun,
  effect: KnownEffect,
  args: unknown,
  attempt: number,
  reason: ErrorData,
) {
  const { codec } = run.writer;
  const { stored, blobs } = await encodeWithDigest(codec, args, effect.request.name);
  const doubt = { reason, atMs: run.ports.clock.nowMs() };
  // Who made it is not known: it may have been any runner before, one whose lease was stolen too.
  const written = await writeIntent(
    run,
    (number) => ({ ...intentOf(run, effect, stored, attempt, number), epoch: 0 }),
    {
      durability: 'strict',
      blobs,
      records: async (number) => [await sealDoubt(codec, number, doubt)],
    },
  );
  remember(run, { ...written, digest: run.writer.image.control.ledgerDigest, outcome: undefined, doubt });
}

/** A failed attempt of the node itself, so that its count outlives a restart. */
export async function recordNodeFailure(run: StepRun, node: string, attempt: number, cause: unknown, final: boolean) {
  const { codec } = run.writer;
  const key = (await codec.sealer.hash('node', run.scheduled.step, attempt)) as StoredIntent['key'];
  const { stored, blobs, digest } = await encodeWithDigest(codec, null, node);
  const request = { kind: 'node', name: node, effectClass: 'read' } as const;
  const finding: Finding = { status: 'failed', error: errorToData(cause), by: 'engine', final };
  const outcome = await outcomeOf(run, finding, node, blobs);
  const written = await writeIntent(
    run,
    (number) => intentOf(run, { request, key, askedDigest: digest }, stored, attempt, number),
    { durability: 'strict', blobs, records: async (number) => [await sealOutcome(codec, number, outcome)] },
  );
  remember(run, { ...written, digest: run.writer.image.control.ledgerDigest, outcome, doubt: undefined });
}
