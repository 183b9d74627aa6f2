/**
 * The waits that one step has on record, of those that its node asks for itself: on every run it must ask for the same ones in
 * the same places, as it must make the same calls (I6, PROTOCOL 1).
 */
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { readWait } from '../codec/wait-codec.ts';
import type { EffectKey, StepId, WaitId } from '../model/ids.ts';
import type { Wait } from '../model/wait.ts';
import { programErrors } from '../program/errors.ts';
import { describeWait } from './describe-wait.ts';
import { effectKeyFor } from './identity.ts';
import type { StepLedger } from './step-ledger.ts';
import type { StepWaits } from './step-waits.ts';
import { waitPlaces } from './wait-places.ts';

export interface RecordedWaitsParts {
  readonly codec: ThreadCodec;
  readonly step: StepId;
  /** The name that a recorded tool has in this version of the agent. */
  readonly nowName: (recorded: string) => string;
}

export class RecordedWaits {
  readonly #parts: RecordedWaitsParts;
  readonly #waits: ReadonlyMap<EffectKey, Wait>;

  private constructor(parts: RecordedWaitsParts, waits: readonly Wait[]) {
    this.#parts = parts;
    this.#waits = new Map(waits.map((wait) => [wait.effectKey, wait]));
  }

  static async read(parts: RecordedWaitsParts, ids: readonly WaitId[]): Promise<RecordedWaits> {
    const waits = await Promise.all(ids.map((id) => readWait(parts.codec, id)));
    const own = waits.filter((wait) => wait !== undefined).filter((wait) => wait.step === parts.step && isOwn(wait));
    return new RecordedWaits(parts, own);
  }

  /** Whether one of them is about this tool. */
  isOf(tool: string): boolean {
    return [...this.#waits.values()].some((wait) => wait.tool === tool);
  }

  /**
   * Called before what is not on record is asked for or called: another wait may be on record in its place.
   *
   * @throws `replay_mismatch`
   */
  async refuseOthers(place: string, called: string, behind: readonly string[] = waitPlaces): Promise<void> {
    for (const suffix of behind) {
      const wait = this.#waits.get(await effectKeyFor(this.#parts.codec, this.#parts.step, `${place}${suffix}`));
      if (wait !== undefined) throw mismatch(wait, called);
    }
  }

  /**
   * Called before a call is made without being asked for: what is on record may be the approval of another one.
   *
   * @throws `replay_mismatch`
   */
  refuseOtherApproval(call: { key: EffectKey; name: string; digest: string }, called: string): void {
    const wait = this.#waits.get(call.key);
    if (wait === undefined || (this.#parts.nowName(wait.tool) === call.name && wait.digest === call.digest)) return;
    throw mismatch(wait, called);
  }

  /** Called when the node returned: it must have asked for all that is on record. @throws `replay_mismatch` */
  refuseForgotten({ waits, ledger }: { readonly waits: StepWaits; readonly ledger: StepLedger }): void {
    for (const wait of this.#waits.values()) {
      const isAsked = waits.hasAsked(wait.id) || (wait.kind === 'approval' && ledger.hasAsked(wait.effectKey));
      if (!isAsked) throw mismatch(wait, 'nothing');
    }
  }
}

/** Not of the engine's own: about a call in doubt, the network, a failure of the step. */
function isOwn({ kind, effectKey }: Wait): boolean {
  return kind !== 'in_doubt' && kind !== 'network' && effectKey.length > 0;
}

function mismatch(wait: Wait, called: string) {
  return programErrors.make('replay_mismatch', { step: wait.step, recorded: describeWait(wait), called });
}
