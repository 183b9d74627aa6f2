import type { LineState } from './agent-line.ts';
import { element, type Part, replaceChildren, setAttributes } from './element.ts';
import { type IconName, icon } from './icons.ts';
import { isAboutSaving } from './problems.ts';
import type { Session } from './session.ts';

export interface SaveShown {
  readonly session: Session | null;
  readonly line: LineState;
}

/** Always in sight: whether all is saved, and if not, that it is not. The way out stands in the run. */
export function saveStatus(): Part<SaveShown> {
  const node = element('p', { class: 'save-status', role: 'status', 'aria-label': 'Save status' });
  let shown = '';
  return {
    node,
    update(now) {
      const [kind, name, words] = statusOf(now);
      if (words === shown) return;
      shown = words;
      setAttributes(node, { 'data-kind': kind });
      replaceChildren(node, icon(name), element('span', {}, words));
    },
  };
}

function statusOf({ session, line }: SaveShown): readonly [kind: string, icon: IconName, words: string] {
  if (line === 'failed') return ['failed', 'alert', 'Cannot save: no worker'];
  if (session === null) return ['nothing', 'shield', 'Nothing to save'];
  const { run, saving } = session;
  if (run.blocked !== null && isAboutSaving(run.blocked.code)) {
    const why = run.blocked.code === 'quota_exceeded' ? 'no space left' : 'storage does not answer';
    return ['failed', 'alert', `Cannot save: ${why}`];
  }
  if (saving > 0) return ['saving', 'clock', 'Saving …'];
  const last = run.marks.at(-1);
  if (last === undefined && run.blocked !== null) return ['failed', 'alert', 'Cannot be opened'];
  if (last === undefined) return ['nothing', 'shield', run.isLoaded ? 'Nothing to save' : 'Opening …'];
  const isUnderWay = run.status === 'running' && run.blocked === null;
  return ['saved', 'shield', isUnderWay ? `Saved up to step ${last.sequence}` : `All saved, ${last.sequence} steps`];
}
