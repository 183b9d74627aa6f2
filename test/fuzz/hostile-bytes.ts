/** Bytes that were changed, and bytes that were never written by any encoder. */
import { concatBytes } from '../../src/base/bytes.ts';
import type { Dice } from './dice.ts';

/** The bytes with something done to them; never the same bytes. `other`: valid bytes to splice with. */
export function mutated(dice: Dice, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  for (;;) {
    const result = dice.pick(mutations)(dice, bytes, other);
    if (result.length !== bytes.length || result.some((byte, index) => byte !== bytes[index])) return result;
  }
}

type Mutation = (dice: Dice, bytes: Uint8Array, other: Uint8Array) => Uint8Array;

const mutations: readonly Mutation[] = [
  flipBits,
  flipBits,
  truncate,
  insert,
  splice,
  overwrite,
  repeat,
  (dice) => dice.bytes(dice.below(64)),
];

function flipBits(dice: Dice, bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  if (changed.length === 0) return dice.bytes(1);
  for (let times = 1 + dice.below(4); times > 0; times -= 1) {
    const at = dice.below(changed.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << dice.below(8));
  }
  return changed;
}

function truncate(dice: Dice, bytes: Uint8Array): Uint8Array {
  const at = dice.below(bytes.length + 1);
  return dice.chance(0.5) ? bytes.slice(0, at) : bytes.slice(at);
}

function insert(dice: Dice, bytes: Uint8Array): Uint8Array {
  const at = dice.below(bytes.length + 1);
  const more = dice.chance(0.5) ? dice.bytes(1 + dice.below(12)) : hostileMessage(dice).subarray(0, 4_096);
  return concatBytes(bytes.subarray(0, at), more, bytes.subarray(at));
}

function splice(dice: Dice, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  return concatBytes(bytes.subarray(0, dice.below(bytes.length + 1)), other.subarray(dice.below(other.length + 1)));
}

function overwrite(dice: Dice, bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  if (changed.length > 0) changed[dice.below(changed.length)] = dice.pick(tokens);
  return changed;
}

function repeat(dice: Dice, bytes: Uint8Array): Uint8Array {
  const at = dice.below(bytes.length + 1);
  return concatBytes(bytes.subarray(0, at), bytes.subarray(dice.below(at + 1)));
}

/** First bytes of MessagePack items that declare a length, an extension or another type. */
const tokens = [
  0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xc4, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcf, 0xd3, 0xd4, 0xd6,
  0xd8, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xff, 0x00, 0x48, 0x49, 0x4a, 0x4b,
];

/** Extensions of both dialects, and some that no dialect knows. */
const extensionTypes = [
  0x00, 0x42, 0x48, 0x49, 0x4a, 0x4b, 0x52, 0x53, 0x54, 0x62, 0x65, 0x69, 0x70, 0x72, 0x73, 0x74, 0x78, 0x7f, 0xff,
];

/** A message made to hurt: lengths that were never there, deep nesting, extensions with the wrong content. */
export function hostileMessage(dice: Dice): Uint8Array {
  return dice.pick([hugeLength, deep, extension, hostileKeys, pointers])(dice);
}

function hugeLength(dice: Dice): Uint8Array {
  const token = dice.pick([0xdd, 0xdf, 0xdb, 0xc6, 0xc9]);
  const length = dice.pick([0xffff_ffff, 0x7fff_ffff, 0x1000_0000, 0x0010_0000]);
  const head = new Uint8Array(6);
  new DataView(head.buffer).setUint32(1, length);
  head[0] = token;
  head[5] = dice.pick(extensionTypes);
  return concatBytes(head, dice.bytes(dice.below(16)));
}

function deep(dice: Dice): Uint8Array {
  const levels = dice.pick([100, 600, 3_000, 20_000]);
  const level = dice.pick([
    [0x91],
    [0x81, 0xa1, 0x61],
    [0xd4, 0x73, 0x91],
    [0xc7, 0x02, 0x4a, 0x91],
    [0xdd, 0, 0, 0, 1],
  ]);
  return concatBytes(...Array.from({ length: levels }, () => Uint8Array.from(level)), Uint8Array.of(0xc0));
}

function extension(dice: Dice): Uint8Array {
  const type = dice.pick(extensionTypes);
  const content = dice.pick([
    dice.bytes(dice.below(24)),
    Uint8Array.of(0xc0),
    Uint8Array.of(0x95, 0xa1, 0x61, 0xcf, 255, 255),
  ]);
  const before = dice.chance(0.5) ? Uint8Array.of(0x93, 0x01) : new Uint8Array(0);
  return concatBytes(before, Uint8Array.of(0xc7, content.length, type), content);
}

function hostileKeys(dice: Dice): Uint8Array {
  const name = new TextEncoder().encode(dice.pick(['__proto__', 'constructor', 'prototype', 'toString', 'valueOf']));
  const key = concatBytes(Uint8Array.of(0xa0 + name.length), name);
  const inner = concatBytes(Uint8Array.of(0x81, 0xa8), new TextEncoder().encode('polluted'), Uint8Array.of(0xc3));
  return concatBytes(Uint8Array.of(0x81), key, inner);
}

/** References of the value dialect, to things that are there and that are not. */
function pointers(dice: Dice): Uint8Array {
  const id = Uint8Array.of(0, 0, 0, dice.below(3));
  const target = concatBytes(Uint8Array.of(0xd6, 0x69), id, Uint8Array.of(dice.pick([0x91, 0x81, 0x90, 0xc0])));
  const pointer = concatBytes(Uint8Array.of(0xd6, 0x70), Uint8Array.of(0, 0, 0, dice.below(4)));
  return dice.chance(0.5) ? concatBytes(target, pointer) : pointer;
}
