/** Deliberate faults in decoders: each is one that fuzzing must find. */
export interface PlantedFault {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const fault = (name: string, file: string, find: string, replace: string): PlantedFault => ({
  name,
  file,
  find,
  replace,
});

export const plantedFaults: readonly PlantedFault[] = [
  fault('the seal leaves out the key', 'codec/envelope.ts', '[key, format, keyId', '[format, keyId'),
  fault(
    'the seal leaves out the incarnation',
    'codec/envelope.ts',
    'database, table, thread, incarnation]);',
    'database, table, thread]);',
  ),
  fault('the seal leaves out the database', 'codec/envelope.ts', "['holdfast/1', database,", "['holdfast/1',"),
  fault(
    'the seal leaves out the plain fields',
    'codec/envelope.ts',
    'const names = Object.keys(plain);',
    'const names = Object.keys(plain).slice(0, 0);',
  ),
  fault("the seal leaves out the parent's tag", 'codec/envelope.ts', ' keyId, parentTag];', ' keyId];'),
  fault(
    'a plain field may have any type',
    'codec/envelope.ts',
    "if (value === null || typeof value === 'string' || typeof value === 'number') return value;",
    'if (value !== undefined) return value as null;',
  ),
  fault(
    'a number may be larger than it can be written',
    'base/bytes.ts',
    'if (!Number.isSafeInteger(number)) throw',
    'if (Number.isNaN(number)) throw',
  ),
  fault(
    "a parent's tag is not compared",
    'codec/thread-image.ts',
    'if (child !== undefined && !sameTag(child.parentTag, checkpoint.tag)) {',
    'if (child !== undefined && sameTag(null, checkpoint.tag)) {',
  ),
  fault(
    "the head's tag is not compared",
    'codec/thread-image.ts',
    'if (!equalBytes(state.checkpoint.tag, control.headTag))',
    'if (!equalBytes(control.headTag, control.headTag))',
  ),
  fault(
    'a base may stand for any checkpoint',
    'codec/checkpoint-codec.ts',
    'if (parentTag === null || !equalBytes(parentTag, checkpoint.tag)) {',
    'if (parentTag === null) {',
  ),
  fault(
    'items of a body may have any type',
    'codec/body.ts',
    'return typeof item === type || (mayBeNull && item === null) ? item',
    'return typeof item === type || mayBeNull || item !== undefined ? item',
  ),
  fault(
    'the size that a reference declares is believed',
    'codec/thread-codec.ts',
    'const chunks: Uint8Array[] = [];',
    'const chunks: Uint8Array[] = [new Uint8Array(ref.bytes).subarray(0, 0)];',
  ),
  fault(
    'what the unpacker throws is passed on',
    'codec/thread-codec.ts',
    "throw codecErrors.make('record_damaged', { table: 'values', key: 'packed', reason: 'it is no value' }, cause);",
    'throw cause;',
  ),
  fault(
    'an error may have causes without end',
    'base/errors.ts',
    'data.cause !== undefined && depth <= deepestCause',
    'data.cause !== undefined',
  ),
  fault('a call may be given anything', 'host/lazy-api.ts', '        checkCall(name, args);\n', ''),
];
