import type { RequirementItem } from '../requirement-items/item.ts';
import type { TestTitle } from './read-titles.ts';

/** A part, or an item that has none, with the tests that name it. */
export interface Fact {
  readonly id: string;
  readonly words: string;
  readonly tests: readonly TestTitle[];
}

export interface JudgedItem {
  readonly id: string;
  readonly title: string;
  readonly proved: boolean;
  /** One without parts is its own only fact. */
  readonly facts: readonly Fact[];
}

export interface Judgement {
  readonly items: readonly JudgedItem[];
  /** Titles that name what cannot be proved, each in a sentence. */
  readonly errors: readonly string[];
}

/** Which items are proved by which tests. */
export function judge(items: readonly RequirementItem[], tests: readonly TestTitle[]): Judgement {
  return {
    items: items.map((item) => {
      const facts = factsOf(item).map((fact) => ({
        ...fact,
        tests: tests.filter((test) => test.ids.includes(fact.id)),
      }));
      return { id: item.id, title: item.title, proved: facts.every((fact) => fact.tests.length > 0), facts };
    }),
    errors: tests.flatMap((test) =>
      test.ids.flatMap((id) => {
        const reason = reasonAgainst(id, items);
        return reason === undefined ? [] : [`${test.file}: "${test.title}" names ${id}, ${reason}.`];
      }),
    ),
  };
}

function factsOf(item: RequirementItem): { id: string; words: string }[] {
  if (item.parts === undefined) return [{ id: item.id, words: item.title }];
  return Object.entries(item.parts).map(([letter, words]) => ({ id: `${item.id}${letter}`, words }));
}

function reasonAgainst(id: string, items: readonly RequirementItem[]): string | undefined {
  const item = items.find((candidate) => candidate.id === id.replace(/[a-z]$/, ''));
  if (item === undefined) return 'and there is no such requirement';
  const ids = factsOf(item).map((fact) => fact.id);
  if (ids.includes(id)) return undefined;
  if (item.parts === undefined) return `and ${item.id} has no parts`;
  if (id === item.id) return `which proves nothing alone: name the part (${ids.join(', ')})`;
  return `and the parts are ${ids.join(', ')}`;
}
