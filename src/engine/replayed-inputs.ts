import { openEvents } from '../codec/open-events.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StepLedger } from './step-ledger.ts';

/**
 * Gives a step that runs again after a repair what it saw of clock and chance behind its last call. No entry of the ledger
 * came after that, so it stands with the event of the step.
 */
export async function addReplayedInputs(codec: ThreadCodec, ledger: StepLedger): Promise<void> {
  for (const record of await codec.source.range('events', codec.thread, { to: 'q:' })) {
    for (const { type, details } of await eventsIn(codec, record)) {
      if (type !== 'step' || details.step !== ledger.step || typeof details.inputs !== 'string') continue;
      for (const [place, value] of JSON.parse(details.inputs) as readonly (readonly [string, number])[]) {
        if (!ledger.inputs.has(place)) ledger.inputs.set(place, value);
      }
    }
  }
}

async function eventsIn(codec: ThreadCodec, record: Parameters<typeof openEvents>[1]) {
  try {
    return (await openEvents(codec, record)).events;
  } catch (error) {
    faultOf(error); // damaged: what was in it is read anew
    return [];
  }
}
