import { textProblem } from '../base/text.ts';

const kinds: readonly unknown[] = ['value', 'log', 'secret'];

/** What is wrong with the declaration of a field; `undefined` if nothing is. */
export function fieldProblem(name: string, declared: unknown): string | undefined {
  const { kind, schema } = (declared ?? {}) as { readonly kind?: unknown; readonly schema?: unknown };
  if (!kinds.includes(kind))
    return `its field "${name}" has the kind "${String(kind)}": declare it by value, log or secret`;
  const problem = textProblem(name);
  if (problem) return `its field "${name}" has a name that cannot be kept: ${problem}`;
  return isSchema(schema) ? undefined : `its field "${name}" has no schema: give one of Zod, or any Standard Schema`;
}

/** Whether it can check values: a Standard Schema, as far as it is used here. */
export function isSchema(given: unknown): boolean {
  const standard = (given as { readonly '~standard'?: { readonly validate?: unknown } } | null | undefined)?.[
    '~standard'
  ];
  return typeof standard?.validate === 'function';
}
