/** Packed values: msgpackr's value dialect and our stand-ins in it. */

import { BodyReader } from '../../src/codec/body.ts';
import { codecErrors } from '../../src/codec/errors.ts';
import { LargeRef, LooseText, NegativeZero, packBody, packValue, StoredError } from '../../src/codec/packer.ts';
import { BlobBatch, type StoredValue, type ThreadCodec } from '../../src/codec/thread-codec.ts';
import type { Exhibit } from './corpus.ts';
import type { Dice } from './dice.ts';
import { hostileMessage, mutated } from './hostile-bytes.ts';
import { hostileObject, hostileValue, mutatedTree } from './hostile-values.ts';
import { isSame } from './same.ts';
import { judgeError, strangePrototype, type Verdict } from './verdict.ts';

export async function tryValue(dice: Dice, { codec, values }: Exhibit): Promise<Verdict> {
  let value: unknown;
  try {
    const stored = hostileStored(dice, values);
    value = await codec.decodeValue(stored);
  } catch (error) {
    return judgeError(error);
  }
  const strange = strangePrototype(value);
  if (strange !== undefined) return { is: 'crash', message: strange };
  return comesBack(codec, value);
}

async function comesBack(codec: ThreadCodec, value: unknown): Promise<Verdict> {
  let again: StoredValue;
  try {
    again = await codec.encodeValue(value, 'value', new BlobBatch());
  } catch (error) {
    return codecErrors.is(error, 'value_not_storable') ? { is: 'read' } : judgeError(error);
  }
  if (again instanceof LargeRef) return { is: 'read' }; // its blob is not in the store
  const second = await codec.decodeValue(again).catch((error: unknown) => error);
  if (codecErrors.is(second, 'record_missing') || isSame(second, value)) return { is: 'read' };
  return { is: 'accepted', message: 'a value that was read does not come back the same when it is written again' };
}

function hostileStored(dice: Dice, values: readonly Uint8Array[]): StoredValue {
  const packed = dice.pick(values);
  return dice.pick<() => StoredValue>([
    () => mutated(dice, packed, dice.pick(values)),
    () => mutated(dice, packed, dice.pick(values)),
    () => hostileMessage(dice),
    () => packedAs(dice, mutatedTree(dice, [1, 'a', new Map([['k', [1]]])])),
    () => packedAs(dice, hostileObject(dice)),
    () => packedAs(dice, standIn(dice)),
    () => packedAs(dice, [standIn(dice), standIn(dice)]),
    () => readAsStored(dice),
  ])();
}

/** A reference as a body holds it. */
function readAsStored(dice: Dice): StoredValue {
  const { hash, bytes, form, name, type } = reference(dice);
  const body = packedAs(dice, [[hash, bytes, form, name, type]], packBody);
  return BodyReader.of(body, { table: 'values', key: '' }).stored();
}

function packedAs<Value>(dice: Dice, value: Value, pack: (value: Value) => Uint8Array = packValue): Uint8Array {
  try {
    return pack(value);
  } catch {
    return hostileMessage(dice);
  }
}

/** Stand-ins with content that none of ours has. */
function standIn(dice: Dice): unknown {
  const parts = dice.chance(0.5)
    ? hostileValue(dice)
    : [
        dice.pick(['Error', 'TypeError', 'constructor', '__proto__', 5]),
        hostileValue(dice),
        hostileValue(dice),
        dice.chance(0.5),
        hostileValue(dice),
      ];
  return dice.pick<() => unknown>([
    () => new StoredError(parts as readonly unknown[]),
    () =>
      new LooseText(
        dice.chance(0.3) ? Array.from({ length: 200_000 }, () => 0xd800) : (hostileValue(dice) as readonly number[]),
      ),
    () => new NegativeZero(),
    () => reference(dice),
  ])();
}

function reference(dice: Dice): LargeRef {
  const bytes = dice.chance(0.5)
    ? dice.pick([Number.NaN, -1, 0.5, 2 ** 32, 2 ** 40, 2 ** 53, 1e300, 0])
    : (hostileValue(dice) as number);
  const hash = dice.chance(0.5) ? 'HHHHHHHHHHHHHHHHHHHHHH' : (hostileValue(dice) as string);
  const form = dice.chance(0.7)
    ? dice.pick(['packed', 'text', 'bytes', 'file'] as const)
    : (hostileValue(dice) as 'text');
  return new LargeRef(hash, bytes, form, hostileValue(dice) as string, hostileValue(dice) as string);
}
