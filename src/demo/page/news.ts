import { endsFile } from './progress.ts';
import type { Run } from './run.ts';
import type { ScreeningState } from './session.ts';
import { counted, markWords, stepsInWords } from './words.ts';

export interface News {
  readonly polite?: string;
  readonly atOnce?: string;
}

/** What a screen reader is to say of a change. */
export function newsOf(before: Run, now: Run, state: ScreeningState | null): News {
  if (now.waits.length > before.waits.length) {
    return { atOnce: `${counted(now.waits.length, 'question')} for you: the run waits for your answer.` };
  }
  if (now.waits.length > 0 && now.waits.length < before.waits.length) {
    return { atOnce: `Answered. ${counted(now.waits.length, 'question')} left.` };
  }
  if (now.blocked !== null && before.blocked === null) return { atOnce: `Cannot go on: ${now.blocked.message}` };
  if (now.status !== before.status) {
    if (now.status === 'failed') return { atOnce: `Failed: ${now.failure?.message ?? ''}` };
    if (now.status === 'done' && before.isLoaded) return { polite: 'Finished. The report is ready.' };
    if (now.status === 'cancelled') return { atOnce: 'Stopped. What was done is kept.' };
  }
  if (now.notches.size > before.notches.size && before.marks.length > 0) {
    return { polite: `Resumed where it stopped, at ${stepsInWords([...now.notches].slice(-1))}.` };
  }
  const last = now.marks.at(-1);
  if (last === undefined || last.sequence === before.marks.at(-1)?.sequence || !before.isLoaded) return {};
  const file = now.marks.slice(0, -1).filter(endsFile).length;
  return { polite: `Step ${last.sequence} saved: ${markWords(last, state?.files[file]?.name)}.` };
}
