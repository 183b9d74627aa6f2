import type { Fact, JudgedItem, Judgement } from './judge.ts';

const sections: readonly [letter: string, title: string][] = [
  ['A', 'Checkpoints'],
  ['B', 'Execution'],
  ['C', 'The browser'],
  ['D', 'Keys and privacy'],
  ['E', 'Agents'],
  ['F', 'Interfaces'],
  ['G', 'Past one browser'],
  ['P', 'Speed, size, cost'],
  ['H', 'Proof'],
  ['I', 'Invariants'],
];

/** The text of docs/requirements.md. */
export function pageOf({ items }: Judgement): string {
  const proved = items.filter((item) => item.proved).length;
  return [
    '# Requirements',
    '',
    '<!-- Made by `npm run requirements` from the titles of the tests. Do not edit. -->',
    '',
    `${proved} of ${items.length} are proved. A test names what it proves in its title; an item with lettered parts is`,
    'proved when all its parts are.',
    ...sections.flatMap(([letter, title]) =>
      section(
        `${letter}. ${title}`,
        items.filter((item) => item.id[0] === letter),
      ),
    ),
    '',
  ].join('\n');
}

function section(title: string, items: readonly JudgedItem[]): string[] {
  const rows = items.flatMap((item) => {
    const [only] = item.facts;
    if (item.facts.length === 1 && only?.id === item.id)
      return [row(`**${item.id}**`, item.title, stateOf(only), only)];
    const done = item.facts.filter((fact) => fact.tests.length > 0).length;
    const state = item.proved ? 'proved' : `open (${done} of ${item.facts.length})`;
    return [
      row(`**${item.id}**`, `**${item.title}**`, state),
      ...item.facts.map((fact) => row(fact.id, fact.words, stateOf(fact), fact)),
    ];
  });
  return ['', `## ${title}`, '', '| | | state | proved by |', '|---|---|---|---|', ...rows];
}

function stateOf(fact: Fact): string {
  return fact.tests.length > 0 ? 'proved' : 'open';
}

function row(id: string, words: string, state: string, fact?: Fact): string {
  const tests = fact?.tests.map((test) => `[${escaped(test.title)}](../${test.file})`).join('<br>') ?? '';
  return `| ${id} | ${words.replaceAll('|', '\\|')} | ${state} | ${tests} |`;
}

function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<>|]/g, '\\$&');
}
