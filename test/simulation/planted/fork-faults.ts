/** Deliberate faults in forks. */
import { fault, type PlantedFault } from './fault.ts';

const inTheMiddle = 'a fork of a step in the middle of its calls, with their results';
const twice = 'a fork that is made twice with one id, of large values, whose calls are made again';
const compacted = 'a fork of a thread that is compacted while it is made, and after it';
const ofTravel = 'forks of where going back led';
const waiting = 'a fork of a thread that waits, and one from behind a grant after its end';

export const forkFaults: readonly PlantedFault[] = [
  fault(
    'a fork does not take along the results that it is to reuse',
    inTheMiddle,
    'engine/time-travel-copy.ts',
    'outcome === undefined || taken.has(effect.made)) continue;',
    'outcome === undefined || taken.has(effect.made) || count >= 0) continue;',
  ),
  fault(
    'a fork takes results along, and makes the calls again',
    inTheMiddle,
    'engine/time-travel-first.ts',
    "choices: Array.from({ length: count }, (_, index) => ({ entry: index + 1, choice: 'reuse' })),",
    "choices: Array.from({ length: count }, (_, index) => ({ entry: index + 1, choice: 'redo' })),",
  ),
  fault(
    'a fork does not take along what is on offer at its checkpoint',
    ofTravel,
    'engine/time-travel-fork-choices.ts',
    'const unasked = takenAlong.filter((offer) => chosen.every(',
    'const unasked = takenAlong.slice(0, 0).filter((offer) => chosen.every(',
  ),
  fault('a fork keeps the grants of its source', waiting, 'engine/time-travel-first.ts', '    grants: [],\n', ''),
  fault(
    'a fork is a thread without its large values',
    twice,
    'engine/time-travel-copy.ts',
    'image && (await source.decodeValue(image as StoredValue));\n    const blobs = new BlobBatch();\n    images.set(name, await fork.encodeValue(value, name, blobs));\n    await write(blobs.writes());',
    'image && (await source.decodeValue(image as StoredValue));\n    const blobs = new BlobBatch();\n    images.set(name, await fork.encodeValue(value, name, blobs));',
  ),
  fault(
    'a fork that is asked for again is taken for another thread',
    inTheMiddle,
    'engine/time-travel-fork.ts',
    'if (pin?.incarnation !== row.incarnation) throw',
    "if (pin?.incarnation !== 'another') throw",
  ),
  fault(
    'a compaction takes the checkpoint that a fork was made from',
    compacted,
    'engine/retained.ts',
    'keys.has(id)), ...forked]',
    'keys.has(id)), ...forked.slice(forked.length)]',
  ),
  fault('a fork waits for what its source was asked', waiting, 'engine/time-travel-first.ts', '    waits: [],\n', ''),
];
