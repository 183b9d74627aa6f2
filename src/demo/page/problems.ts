import { button, element, type Part, replaceChildren } from './element.ts';
import { icon } from './icons.ts';
import type { Run } from './run.ts';

export interface ProblemActions {
  /** Starts a run that goes on with the first file that has no outcome. */
  goOn(): void;
  tryAgain(): void;
  reload(): void;
}

interface Problem {
  readonly kind: 'failed' | 'blocked' | 'cancelled' | 'gone';
  readonly title: string;
  readonly message: string;
  readonly next: string;
  readonly action?: readonly [words: string, press: () => void];
  readonly details?: string;
}

export interface ProblemsShown {
  readonly run: Run;
  readonly line: 'starting' | 'open' | 'gone' | 'failed';
  readonly lineFailure: unknown;
}

/** What keeps the run from going on, in plain words, with the way out. One at a time: the first that matters. */
export function problems(actions: ProblemActions): Part<ProblemsShown> {
  const node = element('div', { class: 'problems', role: 'status' });
  let shown = '';
  return {
    node,
    update(now) {
      const problem = problemOf(now, actions);
      const key = problem === undefined ? '' : `${problem.kind} ${problem.message}`;
      if (key === shown) return;
      shown = key;
      replaceChildren(node, problem && card(problem));
    },
  };
}

function card({ kind, title, message, next, action, details }: Problem): HTMLElement {
  return element(
    'section',
    { class: `card is-${kind}`, 'aria-label': title },
    element('h2', {}, icon(kind === 'cancelled' ? 'stop' : kind === 'gone' ? 'power' : 'alert'), title),
    element('p', {}, message),
    element('p', { class: 'quiet' }, next),
    action && element('div', { class: 'buttons' }, button(action[0], action[1], {}, icon('reload'))),
    details !== undefined &&
      element('details', {}, element('summary', {}, 'For the developer'), element('pre', {}, details)),
  );
}

function problemOf({ run, line, lineFailure }: ProblemsShown, actions: ProblemActions): Problem | undefined {
  const steps = run.marks.length > 0 ? `All up to step ${run.marks.at(-1)?.sequence} is kept.` : 'Nothing is lost.';
  if (line === 'failed') {
    return {
      kind: 'failed',
      title: 'The worker does not start',
      message: lineFailure instanceof Error ? lineFailure.message : String(lineFailure),
      next: `${steps} Try again; if that does not help, reload the page.`,
      action: ['Try again', actions.tryAgain],
    };
  }
  if (line === 'gone') {
    return {
      kind: 'gone',
      title: 'The worker is gone',
      message: 'Another one is being started, and goes on where the last checkpoint stands.',
      next: steps,
    };
  }
  if (run.blocked !== null) {
    return {
      kind: 'blocked',
      title: isAboutSaving(run.blocked.code) ? 'Cannot save' : 'Cannot go on as things are',
      message: run.blocked.message,
      next: `${run.marks.length > 0 ? steps : 'Nothing was changed or deleted.'} ${wayOut(run.blocked.code)}`,
      action: ['Reload the page', actions.reload],
      ...(run.blocked.code !== undefined && { details: run.blocked.code }),
    };
  }
  if (run.status === 'failed') {
    return {
      kind: 'failed',
      title: 'This screening failed',
      message: run.failure?.message ?? 'It is not known why.',
      next: `${steps} Going on begins with the first file that has no result.`,
      action: ['Go on from there', actions.goOn],
      ...(run.failure?.code !== undefined && { details: run.failure.code }),
    };
  }
  if (run.status === 'cancelled') {
    return {
      kind: 'cancelled',
      title: 'Stopped by you',
      message: steps,
      next: 'Going on begins with the first file that has no result. Invitations that were open are asked for again.',
      action: ['Go on from there', actions.goOn],
    };
  }
  return undefined;
}

export function isAboutSaving(code: string | undefined): boolean {
  return code !== undefined && /^(quota_exceeded|timed_out|store_[a-z]+)$/.test(code);
}

function wayOut(code: string | undefined): string {
  if (code === 'quota_exceeded') return 'Free some space for this browser, then reload: it goes on by itself.';
  if (code !== undefined && /^(record|key|format)_/.test(code)) {
    return 'Your other screenings are not touched; start this one again if you need its result soon.';
  }
  return 'Reload the page: it goes on from the last checkpoint if it can.';
}
