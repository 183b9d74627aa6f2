import { type ThreadId, threadIdProblem } from '../model/ids.ts';
import { checkpointerErrors } from './errors.ts';

/** @throws `thread_id_invalid` */
export function checkedId(id: string): ThreadId {
  const problem = threadIdProblem(id);
  if (problem !== undefined) throw checkpointerErrors.make('thread_id_invalid', { problem });
  return id as ThreadId;
}
