import { extensionProblem } from '../program/extension-problem.ts';
import { rareEngineErrors } from './rare-errors.ts';

/** @throws `extension_invalid` */
export function checkExtension(limits: unknown): void {
  const problem = extensionProblem(limits);
  if (problem !== undefined) throw rareEngineErrors.make('extension_invalid', { problem });
}
