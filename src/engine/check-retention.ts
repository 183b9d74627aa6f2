import { retentionProblem } from '../model/retention.ts';
import { engineErrors } from './errors.ts';

/** Checked before anything goes by it. @throws `retention_invalid` */
export function checkRetention(policy: object = {}): void {
  const problem = retentionProblem(policy);
  if (problem !== undefined) throw engineErrors.make('retention_invalid', { problem });
}
