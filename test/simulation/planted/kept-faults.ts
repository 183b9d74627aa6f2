/** Deliberate faults in repair and retention. */
import { fault, type PlantedFault } from './fault.ts';

export const keptFaults: readonly PlantedFault[] = [
  fault(
    'a repair begins a lineage of its own',
    'a head that is damaged behind two payments',
    'engine/repair.ts',
    '  return {\n    ...control,\n    epoch: row.epoch,',
    "  return {\n    ...control,\n    lineage: 'another' as never,\n    epoch: row.epoch,",
  ),
  fault(
    'steps after a repair do not find their calls on record',
    'a head that is damaged behind two payments',
    'engine/repair.ts',
    '      from,\n      replay: { after: replay?.after ?? control.ledger.count, to: count, done: replay?.done ?? [] },',
    '      from: count,\n      replay: null,',
  ),
  fault(
    'a repair takes up again at once what came in later',
    'a thread that loses its whole state behind an input that ended a run',
    'engine/repair.ts',
    'inboxReplay: await inboxReplayOf(codec, below, [...passedOver].reverse()),',
    'inboxReplay: (await inboxReplayOf(codec, below, [...passedOver].reverse())) && null,',
  ),
  fault(
    'going back passes over nothing that awaits its step after a repair',
    'a head that is lost behind two payments side by side, and an edit before they are found again',
    'engine/time-travel-standing.ts',
    'return replay !== null && number',
    'return replay === undefined && number',
  ),
  fault(
    'steps after a repair write over the segments of those before it',
    'a head that is damaged after an event was taken, and damaged again',
    'engine/repair.ts',
    'state: state && (passedOver.length === 0 ? state : { ...state, fields: withSpan(state.fields, span) }),',
    "state: state && (span === '' ? { ...state, fields: withSpan(state.fields, span) } : state),",
  ),
  fault(
    'a checkpoint loses its parent without a base of its own',
    'a thread that is compacted between inputs, and goes on',
    'engine/compact.ts',
    '      if (image === undefined) continue;',
    '      if (image !== null) continue;',
  ),
  fault(
    'segments of checkpoints that stay are taken away',
    'a thread that is compacted while a person is asked, and after its end',
    'engine/living-records.ts',
    "'segments', codec.thread, {});\n  const living = await livingSegments(codec, retained);",
    "'segments', codec.thread, {});\n  const living = new Set([...(await livingSegments(codec, retained))].slice(1));",
  ),
  fault(
    'entries of the step that stands are taken away',
    'a thread that is compacted while a person is asked for the third time in one step',
    'engine/retained.ts',
    'ledger.from,',
    'ledger.count,',
  ),
  fault(
    'a thread is purged with an input to come',
    'a thread that is not purged, since an input is to come that nobody has heard of',
    'engine/purge.ts',
    'return isEnded(row) && row.inbox === row.inboxTaken && row',
    'return isEnded(row) && row',
  ),
];
