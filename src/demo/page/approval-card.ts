import { button, element, type Part, replaceChildren, setAttributes, setText, show } from './element.ts';
import { icon } from './icons.ts';
import type { ScreeningWait } from './session.ts';

export interface CardActions {
  /** Sends an answer; rejects with what was wrong. */
  answer(wait: ScreeningWait, give: () => Promise<void>): Promise<void>;
}

/**
 * Asks a person about one invitation. Nothing is a form here and no button has the focus at first, so that Enter never allows
 * by accident; the heading takes the focus.
 */
export function approvalCard(first: ScreeningWait, isOpen: boolean, actions: CardActions): Part<ScreeningWait> {
  const { applicant, to, subject, body } = first.args;
  const title = element('h3', { id: `wait-${first.id}`, tabindex: '-1' }, `Send an invitation to ${applicant}?`);
  const fields = letterFields({ to, subject, body });
  const shown = element('dl', { class: 'letter-head' }, ...row('To', to), ...row('Subject', subject));
  const letter = element('pre', { class: 'letter' }, body);
  const read = element(
    'details',
    { class: 'letter-details', open: isOpen },
    element('summary', {}, 'Read the letter'),
    letter,
  );
  const problem = element('p', { class: 'problem-line', role: 'alert', hidden: true });
  const buttons = element('div', { class: 'buttons' });

  const tell = (words: string): void => {
    setText(problem, words);
    show(problem, true);
  };
  const give = async (answer: () => Promise<void>): Promise<void> => {
    title.focus(); // a button that is disabled would lose it, and the next card could not take it over
    for (const one of buttons.querySelectorAll('button')) one.disabled = true;
    show(problem, false);
    try {
      await actions.answer(first, answer);
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
      for (const one of buttons.querySelectorAll('button')) one.disabled = false;
    }
  };
  const setEditing = (isEditing: boolean): void => {
    show(fields.node, isEditing);
    show(shown, !isEditing);
    show(read, !isEditing);
    replaceChildren(buttons, ...(isEditing ? editing : asking));
  };

  const edit = (): void => {
    setEditing(true);
    fields.focus();
  };
  const discard = (): void => {
    fields.reset();
    show(problem, false);
    setEditing(false);
    title.focus();
  };
  const allowEdited = (): void => {
    const fault = fields.fault();
    if (fault === '') void give(() => first.allow({ args: { ...first.args, ...fields.values() } }));
    else tell(fault);
  };
  // Of several cards, the title says which one a button belongs to.
  const about = { 'aria-describedby': title.id };
  const deny = () => button('Deny', () => void give(() => first.deny()), about, icon('x'));
  const isAllow = { ...about, class: 'is-allow' };
  const asking = [
    deny(),
    button('Edit', edit, about),
    button('Allow', () => void give(() => first.allow()), isAllow, icon('check')),
  ];
  const editing = [
    deny(),
    button('Discard changes', discard, about),
    button('Allow with these changes', allowEdited, isAllow, icon('check')),
  ];

  const node = element(
    'section',
    { class: 'card is-wait', 'aria-labelledby': `wait-${first.id}` },
    title,
    element('p', { class: 'why' }, element('strong', {}, 'Why: '), first.reason),
    shown,
    read,
    fields.node,
    element(
      'ul',
      { class: 'consequences' },
      element(
        'li',
        {},
        element('strong', {}, 'If you allow: '),
        'this one message goes out, once, even if the tab crashes.',
      ),
      element('li', {}, element('strong', {}, 'If you deny: '), 'nothing is sent, and the report says so.'),
    ),
    problem,
    buttons,
  );
  setEditing(false);
  return { node, update: () => undefined };
}

interface LetterFields {
  readonly node: HTMLElement;
  focus(): void;
  reset(): void;
  /** What is wrong with a field, in the words of the browser; it has the focus then. Empty if nothing is. */
  fault(): string;
  values(): { readonly to: string; readonly subject: string; readonly body: string };
}

function letterFields(letter: { to: string; subject: string; body: string }): LetterFields {
  const to = element('input', { type: 'email', required: true, autocomplete: 'off', value: letter.to });
  const subject = element('input', { type: 'text', required: true, autocomplete: 'off', value: letter.subject });
  const body = element('textarea', { rows: '10', required: true });
  const reset = (): void => {
    to.value = letter.to;
    subject.value = letter.subject;
    body.value = letter.body;
  };
  reset();
  const node = element(
    'div',
    { class: 'fields' },
    element('label', {}, element('span', {}, 'To'), to),
    element('label', {}, element('span', {}, 'Subject'), subject),
    element('label', {}, element('span', {}, 'Letter'), body),
  );
  return {
    node,
    focus() {
      body.setSelectionRange(0, 0);
      body.focus();
      body.scrollTop = 0;
    },
    reset,
    fault() {
      const all = [to, subject, body];
      for (const field of all) setAttributes(field, { 'aria-invalid': !field.validity.valid });
      const wrong = all.find(({ validity }) => !validity.valid);
      wrong?.focus();
      return wrong?.validationMessage ?? '';
    },
    values: () => ({ to: to.value.trim(), subject: subject.value, body: body.value }),
  };
}

function row(name: string, text: string): HTMLElement[] {
  return [element('dt', {}, name), element('dd', {}, text)];
}
