import { sampleApplications } from '../samples/index.ts';
import { button, element, setText, show } from './element.ts';
import { icon } from './icons.ts';
import { fetchSample } from './samples.ts';
import { filesInput } from './start-files.ts';
import { jobInput } from './start-job.ts';
import { counted } from './words.ts';

export interface ScreeningInput {
  readonly jobFile: File;
  readonly files: readonly File[];
}

/** Where a screening begins. `start` resolves when the input is durable. */
export function startView(start: (input: ScreeningInput) => Promise<void>): HTMLElement {
  let isBusy = false;
  const job = jobInput(() => update());
  const files = filesInput(() => update());
  const problem = element('p', { class: 'problem-line', role: 'alert', hidden: true });
  const missing = element('p', { id: 'missing', class: 'quiet' });
  const go = button('Start screening', () => void begin(), { class: 'is-primary', 'aria-describedby': 'missing' });
  const sample = button('Use the 12 sample applications', () => void useSamples(), {}, icon('file'));

  const tell = (error: unknown): void => {
    setText(problem, error instanceof Error ? error.message : String(error));
    show(problem, true);
  };
  const busy = async (work: () => Promise<void>): Promise<void> => {
    isBusy = true;
    show(problem, false);
    update();
    try {
      await work();
    } catch (error) {
      tell(error);
    }
    isBusy = false;
    update();
  };
  const useSamples = () =>
    busy(async () => {
      const fetched = await Promise.all(sampleApplications.map(fetchSample));
      await job.useSample();
      files.add(fetched);
      go.focus();
    });
  const begin = async (): Promise<void> => {
    const jobFile = job.value();
    if (isBusy || jobFile === null || files.value().length === 0) return update();
    await busy(() => start({ jobFile, files: files.value() }));
  };
  const update = (): void => {
    const hasJob = job.value() !== null;
    const count = files.value().length;
    const lacks = [!hasJob && 'a job description', count === 0 && 'at least one application'].filter(Boolean);
    setText(missing, isBusy ? 'One moment …' : lacks.length > 0 ? `Still needed: ${lacks.join(' and ')}.` : '');
    go.disabled = isBusy || lacks.length > 0;
    sample.disabled = isBusy;
    const label = go.querySelector('span');
    if (label !== null) setText(label, count === 0 ? 'Start screening' : `Screen ${counted(count, 'application')}`);
  };
  update();

  return element(
    'div',
    { class: 'start' },
    element('h1', { tabindex: '-1' }, 'Screen applications'),
    element(
      'p',
      { class: 'lead' },
      'An agent reads each application, compares it with the job and writes the invitations. You decide which go out. ' +
        'Every step is saved, encrypted, in this browser: close the tab in the middle if you like.',
    ),
    element(
      'div',
      { class: 'sample' },
      sample,
      element('span', { class: 'quiet' }, 'No files at hand? Take these; they are made up.'),
    ),
    element('div', { class: 'start-panels' }, job.node, files.node),
    problem,
    element('div', { class: 'start-go' }, go, missing),
  );
}
