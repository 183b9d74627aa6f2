import type { AgentLine } from './agent-line.ts';
import type { CardActions } from './approval-card.ts';
import { approvals } from './approvals.ts';
import { button, element, type Part, setAttributes, setText, show } from './element.ts';
import { fileList } from './file-list.ts';
import { icon } from './icons.ts';
import { type ProblemActions, problems } from './problems.ts';
import { expectedEnd, fileSteps, filesFinished, filesOf } from './progress.ts';
import { report } from './report.ts';
import type { Run } from './run.ts';
import type { ScreeningState, Session } from './session.ts';
import { threadLine } from './thread-line.ts';
import { counted, doingWords, statusWords } from './words.ts';

export interface RunActions extends CardActions, ProblemActions {
  stop(): void;
}

export interface RunShown {
  readonly session: Session;
  readonly line: AgentLine;
}

/** One screening: its line, what keeps it waiting, the report, and its files. */
export function runView(actions: RunActions): Part<RunShown> {
  const title = element('h1', { tabindex: '-1' });
  const status = element('span', { class: 'status' });
  const meta = element('p', { class: 'run-meta' }, status);
  const about = element('span', { class: 'quiet' });
  meta.append(about);
  const stopIt = (): void => {
    title.focus(); // the button goes when the run has stopped
    actions.stop();
  };
  const stop = button('Stop', stopIt, {}, icon('stop'));
  const line = threadLine();
  const now = element('p', { class: 'now' });
  const stream = element('p', { class: 'prose-stream', 'aria-hidden': 'true' });
  const trouble = problems(actions);
  const cards = approvals(actions, () => title.focus());
  const result = report();
  const files = fileList();
  const filesHead = element('summary', {}, 'Files');
  const filesPart = element('details', { class: 'files-part', open: true }, filesHead, files.node);
  const loading = element('p', { class: 'empty', role: 'status' }, 'Opening this screening …');
  const content = element(
    'div',
    { class: 'run-content' },
    line.node,
    now,
    stream,
    trouble.node,
    cards.node,
    result.node,
    filesPart,
  );
  let wasRanked = false;

  return {
    node: element(
      'div',
      { class: 'run' },
      element('header', { class: 'run-head' }, title, stop, meta),
      loading,
      content,
    ),
    update({ session, line: agentLine }) {
      const { run, state, waits } = session;
      const isThere = run.marks.length > 0;
      const isStuck = agentLine.state === 'failed' || run.blocked !== null;
      setText(title, titleOf(state));
      setText(status, run.isLoaded ? statusWords(run.status, run.blocked !== null) : 'Opening');
      setAttributes(status, { 'data-status': shownStatus(run) });
      setText(about, aboutWords(run, state));
      show(stop, run.blocked === null && (run.status === 'running' || run.status === 'waiting'));
      show(loading, !isThere && !isStuck);
      show(line.node, isThere);
      show(meta, isThere || agentLine.state !== 'failed');
      setText(loading, loadingWords(run, agentLine));
      line.update({ run, end: expectedEnd(run, state) });
      setText(now, nowWords(run, state));
      show(now, now.textContent !== '');
      const isProse = run.node === 'choose' || run.node === 'report';
      show(stream, isProse && run.streamed !== '');
      setText(stream, isProse ? run.streamed : '');
      trouble.update({ run, line: agentLine.state, lineFailure: agentLine.failure });
      cards.update(waits);
      result.update({ state, isOver: run.status === 'cancelled' || run.status === 'failed', waits });
      const progress = filesOf(run, state, session.outcomes);
      const retry =
        run.retry === null ? null : `Trying again in ${Math.ceil(run.retry.inMs / 1_000)} s: ${run.retry.reason}`;
      files.update({ files: progress, streamed: run.streamed, retry });
      const isRanked = (state?.ranking ?? null) !== null;
      if (isRanked && !wasRanked) filesPart.open = false;
      wasRanked = isRanked;
      setText(filesHead, filesWords(run, state));
      show(filesPart, progress.length > 0);
      show(content, isThere || isStuck);
    },
  };
}

function shownStatus(run: Run): Run['status'] {
  return run.blocked === null ? run.status : 'failed';
}

export function titleOf(state: ScreeningState | null): string {
  return state?.job?.title ?? (state === null ? 'Screening' : 'New screening');
}

function aboutWords(run: Run, state: ScreeningState | null): string {
  if (state === null) return '';
  const company = state.job?.company ?? null;
  const parts = [company, counted(state.files.length, 'application')];
  if (run.status === 'running') parts.push(`${Math.min(filesFinished(run), state.files.length)} done`);
  return parts.filter((part) => part !== null).join(' · ');
}

function loadingWords(run: Run, { state }: AgentLine): string {
  if (state === 'failed') return '';
  if (!run.isLoaded) return state === 'gone' ? 'The worker is gone. Starting another …' : 'Opening this screening …';
  return run.status === 'idle' ? 'There is no such screening in this browser. Start a new one.' : 'Taking the files …';
}

/** What is under way. */
function nowWords(run: Run, state: ScreeningState | null): string {
  if (run.status !== 'running' || run.blocked !== null) return '';
  const index = filesFinished(run);
  const file = fileSteps.some((name) => name === run.node) ? state?.files[index] : undefined;
  const where = file === undefined ? '' : `: file ${index + 1} of ${state?.files.length}, ${file.name}`;
  return `${doingWords(run.node)}${where}`;
}

function filesWords(run: Run, state: ScreeningState | null): string {
  const total = state?.files.length ?? 0;
  return `Files: ${Math.min(filesFinished(run), total)} of ${total} done`;
}
