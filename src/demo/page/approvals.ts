import { HoldfastError } from 'holdfast';
import { approvalCard, type CardActions } from './approval-card.ts';
import { doubtCard } from './doubt-card.ts';
import { button, element, keyedList, type Part, setText, show } from './element.ts';
import { icon } from './icons.ts';
import type { ScreeningWait } from './session.ts';
import { counted } from './words.ts';

/** All that waits for a person, one card each, and one button for all of them. Takes the focus when it appears, and gives it back at the end. */
export function approvals(actions: CardActions, whenAllAnswered: () => void): Part<readonly ScreeningWait[]> {
  const heading = element('h2', { tabindex: '-1' });
  const cards = element('div', { class: 'cards' });
  let waits: readonly ScreeningWait[] = [];
  const problem = element('p', { class: 'problem-line', role: 'alert', hidden: true });
  const all = button('Allow all for this run', () => void allowAll(), {}, icon('check'));
  const head = element('div', { class: 'approvals-head' }, heading, all);
  const node = element(
    'section',
    { class: 'approvals', 'aria-label': 'Waiting for you', hidden: true },
    head,
    problem,
    cards,
  );

  const allowAll = async (): Promise<void> => {
    all.disabled = true;
    show(problem, false);
    try {
      const open = waits.filter(({ kind }) => kind === 'approval');
      // The first answer grants the tool for later calls; those that already ask are answered one by one.
      // What is asked again after a stop is granted one by one: another stop must ask once more.
      for (const wait of open) {
        const allow = () => wait.allow({ forThread: wait.tool === 'invite' });
        await actions.answer(wait, allow).catch(unlessAnswered);
      }
    } catch (error) {
      setText(problem, error instanceof Error ? error.message : String(error));
      show(problem, true);
    }
    all.disabled = false;
  };

  const update = keyedList<ScreeningWait>(
    cards,
    ({ id }) => id,
    (wait) => {
      const isFirst = wait.id === waits[0]?.id;
      return wait.kind === 'in_doubt' ? doubtCard(wait, actions) : approvalCard(wait, isFirst, actions);
    },
  );

  return {
    node,
    update(next) {
      const had = waits.length;
      const hadFocus = node.contains(document.activeElement);
      waits = [...next].sort(doubtsFirst);
      const open = next.filter(({ kind }) => kind === 'approval').length;
      show(node, next.length > 0);
      setText(
        heading,
        [
          open > 0 && `${counted(open, 'invitation')} ${open === 1 ? 'waits' : 'wait'} for you`,
          next.length > open && `${next.length - open} to look up`,
        ]
          .filter(Boolean)
          .join(', '),
      );
      show(all, open > 1);
      update(waits);
      if (hadFocus && next.length === 0) whenAllAnswered();
      const isNew = had === 0 && next.length > 0;
      if (isNew || (hadFocus && next.length < had)) focusFirst(cards);
    },
  };
}

/** Somebody answered that one meanwhile: the others are still open. */
function unlessAnswered(error: unknown): void {
  if (!(error instanceof HoldfastError) || error.code !== 'wait_closed') throw error;
}

function doubtsFirst(a: ScreeningWait, b: ScreeningWait): number {
  return Number(b.kind === 'in_doubt') - Number(a.kind === 'in_doubt');
}

/** The heading of the first card, unless somebody is writing. */
function focusFirst(cards: HTMLElement): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLTextAreaElement || activeElement instanceof HTMLInputElement) {
    if (activeElement.isConnected && !activeElement.disabled) return;
  }
  cards.querySelector<HTMLElement>('h3')?.focus();
}
