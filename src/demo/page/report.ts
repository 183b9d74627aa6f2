import { element, type Part, replaceChildren, setText, show } from './element.ts';
import type { ScreeningState, ScreeningWait } from './session.ts';

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

export interface ReportShown {
  readonly state: ScreeningState | null;
  /** Stopped or failed: nobody is asked any more. */
  readonly isOver: boolean;
  readonly waits: readonly ScreeningWait[];
}

/** The ranked report: the table, and the files that could not be read with what to do. */
export function report(): Part<ReportShown> {
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
  let shown = '';
  return {
    node,
    update({ state, isOver, waits }) {
      const ranking = state?.ranking ?? null;
      show(node, ranking !== null);
      if (state === null || ranking === null) return;
      setText(summary, state.summary);
      show(summary, state.summary !== '');
      const asked = new Set(waits.map(({ args }) => `${args.to} ${args.applicant}`));
      const planned = new Map(
        state.planned?.map(({ file, invitation: { to, applicant } }) => {
          const isAsked = asked.has(`${to} ${applicant}`);
          return [file, isOver ? 'Stopped before it was settled' : isAsked ? 'Waiting for you' : 'Answered'] as const;
        }),
      );
      const key = [ranking.candidates.length, ranking.unreadable.length, state.invitations.length, ...planned.values()];
      if (key.join() === shown) return;
      shown = key.join();
      const invitations = new Map(state.invitations.tail.map((one) => [one.file, one]));
      const rows = ranking.candidates.map((one) =>
        row(one, invitations.get(one.file), planned.get(one.file) ?? 'None'),
      );
      replaceChildren(body, ...rows);
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

function row(candidate: Ranked, invited: Invited | undefined, otherwise: string): HTMLElement {
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
    cell('Invitation', ...invitation(invited, otherwise)),
  );
}

function invitation(invited: Invited | undefined, otherwise: string): HTMLElement[] {
  if (invited === undefined) return [element('span', { class: 'quiet' }, otherwise)];
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
