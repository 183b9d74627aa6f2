import type { CardActions } from './approval-card.ts';
import { button, element, type Part, setText, show } from './element.ts';
import type { ScreeningWait } from './session.ts';

/** Asks a person what became of an invitation that a crash cut off and that the outbox could not tell about. */
export function doubtCard(wait: ScreeningWait, actions: CardActions): Part<ScreeningWait> {
  const { applicant, to } = wait.args;
  const title = element('h3', { id: `wait-${wait.id}`, tabindex: '-1' }, `Was the invitation to ${applicant} sent?`);
  const problem = element('p', { class: 'problem-line', role: 'alert', hidden: true });
  const give = async (answer: () => Promise<void>): Promise<void> => {
    title.focus(); // a button that is disabled would lose it
    for (const one of buttons.querySelectorAll('button')) one.disabled = true;
    show(problem, false);
    try {
      await actions.answer(wait, answer);
    } catch (error) {
      setText(problem, error instanceof Error ? error.message : String(error));
      show(problem, true);
      for (const one of buttons.querySelectorAll('button')) one.disabled = false;
    }
  };
  const buttons = element(
    'div',
    { class: 'buttons' },
    button('Leave it', () => void give(() => wait.giveUp())),
    button('It was not sent', () => void give(() => wait.notDone())),
    button('It was sent', () => void give(() => wait.done({ id: null, receivedAt: null }))),
  );
  const node = element(
    'section',
    { class: 'card is-doubt', 'aria-labelledby': `wait-${wait.id}` },
    title,
    element(
      'p',
      {},
      `The message to ${to} was cut off, and the outbox could not be asked. `,
      element('a', { href: '/outbox', target: '_blank', rel: 'noopener' }, 'Look it up in the outbox'),
      ' before you answer: what you say here is believed.',
    ),
    element(
      'ul',
      { class: 'consequences' },
      element('li', {}, element('strong', {}, 'Not sent: '), 'it is sent now.'),
      element('li', {}, element('strong', {}, 'Sent, or leave it: '), 'it is not sent again.'),
    ),
    problem,
    buttons,
  );
  return { node, update: () => undefined };
}
