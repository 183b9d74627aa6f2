import { element, type Part, replaceChildren, setText, show } from './element.ts';
import type { ScreeningState } from './session.ts';

type Ranked = NonNullable<ScreeningState['ranking']>['candidates'][number];
type Invited = ScreeningState['invitations']['tail'][number];

const COLUMNS = ['Place', 'Applicant', 'Score', 'Reasons', 'Concerns', 'Invitation'] as const;

const recommendations = { invite: 'Invite', consider: 'Consider', decline: 'Decline' } as const;
const invitationWords = {
  sent: 'Sent',
  denied: 'Not sent: denied',
  refused: 'Not sent: refused',
  not_known: 'Not known',
} as const;

/** The ranked report: the table, and the files that could not be read with what to do. */
export function report(): Part<ScreeningState | null> {
  const summary = element('p', { class: 'summary' });
  const body = element('tbody', { role: 'rowgroup' });
  const head = element(
    'tr',
    { role: 'row' },
    ...COLUMNS.map((name) => element('th', { scope: 'col', role: 'columnheader' }, name)),
  );
  const table = element(
    'table',
    { class: 'report', role: 'table', 'aria-label': 'Ranking' },
    element('thead', { role: 'rowgroup' }, head),
    body,
  );
  const nobody = element(
    'p',
    { class: 'empty', hidden: true },
    'None of the files could be read, so there is no ranking.',
  );
  const unreadable = element('ul', { class: 'unreadable' });
  const unreadablePart = element(
    'section',
    { hidden: true, 'aria-label': 'Files that could not be read' },
    element('h3', {}, 'Could not be read'),
    unreadable,
  );
  const node = element(
    'section',
    { class: 'report-part', 'aria-label': 'Report', hidden: true },
    element('h2', {}, 'Report'),
    summary,
    table,
    nobody,
    unreadablePart,
  );
  let shown: unknown = null;
  return {
    node,
    update(state) {
      const ranking = state?.ranking ?? null;
      show(node, ranking !== null);
      if (state === null || ranking === null) return;
      setText(summary, state.summary);
      show(summary, state.summary !== '');
      const key = `${ranking.candidates.length} ${ranking.unreadable.length} ${state.planned?.length} ${state.invitations.length}`;
      if (key === shown) return;
      shown = key;
      const invitations = new Map(state.invitations.tail.map((one) => [one.file, one]));
      const planned = new Set(state.planned?.map(({ file }) => file));
      replaceChildren(
        body,
        ...ranking.candidates.map((one) => row(one, invitations.get(one.file), planned.has(one.file))),
      );
      show(table, ranking.candidates.length > 0);
      show(nobody, ranking.candidates.length === 0);
      show(unreadablePart, ranking.unreadable.length > 0);
      replaceChildren(
        unreadable,
        ...ranking.unreadable.map(({ file, message }) =>
          element('li', {}, element('strong', {}, file), element('span', {}, message)),
        ),
      );
    },
  };
}

function row(candidate: Ranked, invited: Invited | undefined, isPlanned: boolean): HTMLElement {
  const { place, file, applicant, assessment } = candidate;
  const { score, recommendation, reasons, concerns } = assessment;
  const meter = element('span', { class: 'score-bar', 'aria-hidden': 'true' }, element('span', {}));
  const fill = meter.firstElementChild;
  if (fill instanceof HTMLElement) fill.style.width = `${score}%`;
  return element(
    'tr',
    { role: 'row', 'data-recommendation': recommendation },
    cell('Place', element('span', { class: 'number' }, place)),
    cell(
      'Applicant',
      element('strong', {}, applicant.name ?? file),
      element('span', { class: 'file-of' }, file),
      element('span', { class: 'recommendation' }, recommendations[recommendation]),
    ),
    cell('Score', element('span', { class: 'number' }, score), meter),
    cell('Reasons', sentences(reasons)),
    cell('Concerns', sentences(concerns)),
    cell('Invitation', ...invitation(invited, isPlanned)),
  );
}

function invitation(invited: Invited | undefined, isPlanned: boolean): HTMLElement[] {
  if (invited === undefined) return [element('span', { class: 'quiet' }, isPlanned ? 'Waiting for you' : 'None')];
  const words = element(
    'span',
    { class: 'invitation', 'data-status': invited.status },
    invitationWords[invited.status],
  );
  return invited.note === '' ? [words] : [words, element('span', { class: 'quiet' }, ` ${invited.note}`)];
}

function cell(column: string, ...children: Node[]): HTMLElement {
  return element('td', { role: 'cell', 'data-column': column }, element('div', {}, ...children));
}

function sentences(texts: readonly string[]): HTMLElement {
  if (texts.length === 0) return element('span', { class: 'quiet' }, 'None');
  return element('span', {}, texts.join(' '));
}
