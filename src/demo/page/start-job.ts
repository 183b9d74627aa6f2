import { readDocument } from '../read-document.ts';
import { sampleJob } from '../samples/index.ts';
import { button, element, listen, setText, show } from './element.ts';
import { icon } from './icons.ts';
import { fetchSample } from './samples.ts';

export interface JobInput {
  readonly node: HTMLElement;
  /** The description as a file; `null` while there is none. */
  value(): File | null;
  /** @throws if the bundled file cannot be loaded. */
  useSample(): Promise<void>;
}

/** The job description: a file of any encoding, or text that is typed or pasted. A file is shown as the text it holds. */
export function jobInput(onChange: () => void): JobInput {
  let file: File | null = null;
  const text = element('textarea', {
    id: 'job-text',
    rows: '7',
    placeholder: 'Paste the job description here, or choose a file.',
    'aria-describedby': 'job-note',
  });
  const note = element('p', { id: 'job-note', class: 'quiet', role: 'status' });
  const problem = element('p', { class: 'problem-line', role: 'alert', hidden: true });
  const picker = element('input', { type: 'file', hidden: true, accept: '.txt,.md,.markdown,.pdf' });

  const take = async (chosen: File): Promise<void> => {
    show(problem, false);
    setText(note, `Reading ${chosen.name} …`);
    try {
      const bytes = new Uint8Array(await chosen.arrayBuffer());
      text.value = await readDocument({ name: chosen.name, type: chosen.type, bytes });
      file = chosen;
      setText(note, `From ${chosen.name}. What you change here is used instead.`);
    } catch (error) {
      setText(note, '');
      setText(problem, error instanceof Error ? error.message : String(error));
      show(problem, true);
    }
    onChange();
  };

  listen(text, {
    input: () => {
      if (file !== null) setText(note, '');
      file = null;
      onChange();
    },
  });
  listen(picker, {
    change: () => {
      const [chosen] = picker.files ?? [];
      if (chosen !== undefined) void take(chosen);
      picker.value = '';
    },
  });

  const node = element(
    'section',
    { class: 'panel', 'aria-labelledby': 'job-heading' },
    element('h2', { id: 'job-heading' }, 'Job description'),
    element('label', { class: 'visually-hidden', for: 'job-text' }, 'Job description'),
    text,
    note,
    problem,
    picker,
    element(
      'div',
      { class: 'buttons' },
      button('Choose a file', () => picker.click(), {}, icon('file')),
    ),
  );
  return {
    node,
    value() {
      if (file !== null) return file;
      return text.value.trim() === '' ? null : new File([text.value], 'job-description.txt', { type: 'text/plain' });
    },
    useSample: async () => take(await fetchSample(sampleJob)),
  };
}
