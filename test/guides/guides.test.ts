/** The examples of the guides, extracted, checked by the compiler, and run as printed. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { errorCodes } from './error-codes.ts';
import { type Example, readGuides, top } from './examples.ts';

const guides = await readGuides();
const examples = guides.flatMap((guide) => guide.examples);
let folder: string;

const pathOf = ({ guide, file }: Example) => join(folder, guide, file);

beforeAll(async () => {
  // Inside the project, so that its packages are found; not kept.
  await mkdir(join(top, 'test/guides/generated'), { recursive: true });
  folder = await mkdtemp(join(top, 'test/guides/generated/run-'));
  for (const given of examples) {
    await mkdir(join(folder, given.guide), { recursive: true });
    await writeFile(pathOf(given), given.code);
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('[C2a] there is a guide for each thing that an author must decide', () => {
  expect(guides.map(({ name }) => name)).toEqual([
    'budgets',
    'effects',
    'failures',
    'migrations',
    'models',
    'parallel',
    'retention',
    'state',
    'testing',
    'time-travel',
    'waits',
  ]);
});

test.each(guides)('[C2a] $name: has an example, and no code that is not run', ({ examples: own, loose }) => {
  expect(own.length).toBeGreaterThan(0);
  expect(loose).toEqual([]);
});

test('[C2a] every example is accepted by the compiler as it is printed', { timeout: 90_000 }, () => {
  const config = ts.readConfigFile(join(top, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, top);
  const program = ts.createProgram(examples.map(pathOf), options);
  const problems = examples.flatMap((given) => {
    const source = program.getSourceFile(pathOf(given));
    if (source === undefined) return [`${given.file} was not found`];
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText }) => `${given.file}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  });
  expect(problems).toEqual([]);
});

test.each(examples)('[C2a] $guide: $file prints what the page says', async (given) => {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...parts: unknown[]) => {
    lines.push(format(...parts)); // as a terminal shows it
  });
  await import(pathOf(given)).finally(() => log.mockRestore());
  expect(lines.join('\n').split('\n')).toEqual(given.prints);
});

test.each(guides)('[C2a] $name: every error code in its table exists', async ({ text }) => {
  const [, table = ''] = text.split('## Errors');
  const codes = [...table.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(0);
  const known = await errorCodes();
  expect(codes.filter((code) => code === undefined || !known.has(code))).toEqual([]);
});
