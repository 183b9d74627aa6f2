import { describe, expect, test } from 'vitest';
import { requirementItems } from '../support/requirement-items.ts';
import { judge } from '../support/requirements/judge.ts';
import { pageOf } from '../support/requirements/page.ts';
import { readTitles } from '../support/requirements/read-titles.ts';

const items = [
  { id: 'A1', title: 'Whole' },
  { id: 'A2', title: 'Halves', parts: { a: 'one half', b: 'the other half' } },
];

const judgeText = (text: string) => judge(items, readTitles('test/some.test.ts', text));
const provedIn = (text: string) =>
  judgeText(text)
    .items.filter((item) => item.proved)
    .map((item) => item.id);
const idsIn = (text: string) => readTitles('test/some.test.ts', text).map((found) => found.ids);

describe('the list', () => {
  test('has every number once', () => {
    const lengths = { A: 15, B: 15, C: 11, D: 6, E: 5, F: 8, G: 4, P: 8, H: 5, I: 10 };
    const numbers = Object.entries(lengths).flatMap(([letter, length]) =>
      Array.from({ length }, (_, index) => `${letter}${index + 1}`),
    );
    expect(requirementItems.map((item) => item.id)).toEqual(numbers);
  });

  test('letters parts from a on, at least two', () => {
    for (const { id, parts } of requirementItems) {
      if (parts === undefined) continue;
      const letters = Object.keys(parts);
      expect(letters.length, id).toBeGreaterThan(1);
      expect(letters.join(''), id).toBe('abcdefghij'.slice(0, letters.length));
    }
  });
});

describe('an item', () => {
  test('without a test is open', () => {
    expect(provedIn("test('something else', () => {});")).toEqual([]);
  });

  test('without parts is proved by its number', () => {
    expect(provedIn("test('[A1] works', () => {});")).toEqual(['A1']);
  });

  test('with parts is open until each is proved', () => {
    expect(provedIn("test('[A2a] works', () => {});")).toEqual([]);
    expect(provedIn("test('[A2a] works', () => {}); it('[A2b] too', () => {});")).toEqual(['A2']);
  });

  test('is shown with its state and its tests', () => {
    const page = pageOf(judgeText("test('[A2a] works', () => {});"));
    expect(page).toContain('0 of 2 are proved');
    expect(page).toContain('| **A1** | Whole | open |  |');
    expect(page).toContain('| **A2** | **Halves** | open (1 of 2) |  |');
    expect(page).toContain('| A2a | one half | proved | [works](../test/some.test.ts) |');
    expect(page).toContain('| A2b | the other half | open |  |');
  });
});

describe('a title is refused', () => {
  test.each([
    ['[A2] all', 'A2, which proves nothing alone: name the part (A2a, A2b)'],
    ['[Z9] none', 'Z9, and there is no such requirement'],
    ['[A2c] too far', 'A2c, and the parts are A2a, A2b'],
    ['[A1a] too fine', 'A1a, and A1 has no parts'],
    ['[A1-A2] a range', 'A1-A2, and there is no such requirement'],
  ])('%s', (title, reason) => {
    const { errors } = judgeText(`test('${title}', () => {});`);
    const words = title.replace(/^\S+ /, '');
    expect(errors).toEqual([`test/some.test.ts: "${words}" names ${reason}.`]);
  });
});

describe('titles are read', () => {
  test.each([
    ['a plain one', "test('[A1] x', () => {});", [['A1']]],
    ['several numbers', "test('[A1, A2a][A2b] x', () => {});", [['A1', 'A2a', 'A2b']]],
    ['a template', `test(\`[A1] of \${name} x\`, () => {});`, [['A1']]],
    ['joined strings', "test('[A1] x' + y, () => {});", [['A1']]],
    ['a table', "test.each([1, 2])('[A1] %s', () => {});", [['A1']]],
    [
      'a group',
      "describe('[A1] x', () => { test('[A2a] y', () => {}); test('z', () => {}); });",
      [['A1', 'A2a'], ['A1']],
    ],
    ['a helper of the suite', "guarantee('kept', '[A1] x', async () => {});", [['A1']]],
    ['one inside a function', "const suite = () => { test('[A1] x', () => {}); };", [['A1']]],
  ])('%s', (_, text, ids) => {
    expect(idsIn(text)).toEqual(ids);
  });

  test.each([
    ['skipped', "test.skip('[A1] x', () => {});"],
    ['to do', "test.todo('[A1] x');"],
    ['meant to fail', "test.fails('[A1] x', () => {});"],
    ['in a skipped group', "describe.skip('x', () => { test('[A1] y', () => {}); });"],
    ['in a comment', "// test('[A1] x', () => {});"],
    ['a group without tests', "describe('[A1] x', () => {});"],
  ])('one that is %s proves nothing', (_, text) => {
    expect(provedIn(text)).toEqual([]);
  });
});
