import type { Wait } from '../model/wait.ts';

/** What is asked, for people who read an error about it. */
export function describeWait({
  kind,
  tool,
  reason,
  digest,
}: Pick<Wait, 'kind' | 'tool' | 'reason' | 'digest'>): string {
  switch (kind) {
    case 'approval':
      return `the approval of "${tool}" with arguments of digest ${digest}`;
    case 'in_doubt':
      return `what became of "${tool}" with arguments of digest ${digest}`;
    case 'question':
      return `the question "${reason}" (digest ${digest})`;
    case 'event':
      return `a wait for event "${tool}"`;
    case 'timer':
      return `a sleep ${reason}`;
    case 'network':
      return 'a wait for the network';
    case 'child':
      return `a wait for child "${tool}" with an input of digest ${digest}`;
  }
}
