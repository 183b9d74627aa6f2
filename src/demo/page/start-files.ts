import { DOCUMENT_LIMIT_BYTES } from '../read-document.ts';
import { button, element, keyedList, listen, replaceChildren, setAttributes, setText, show } from './element.ts';
import { icon } from './icons.ts';
import { checkedFiles } from './input-check.ts';
import { counted, sizeInWords } from './words.ts';

export interface FilesInput {
  readonly node: HTMLElement;
  value(): readonly File[];
  add(files: readonly File[]): void;
}

/** The applications: dropped, or chosen. What cannot be taken is refused by name, before anything is sent. */
export function filesInput(onChange: () => void): FilesInput {
  let files: readonly File[] = [];
  const picker = element('input', { type: 'file', multiple: true, hidden: true, accept: '.txt,.md,.markdown,.pdf' });
  const problems = element('ul', { class: 'problem-list', role: 'alert', hidden: true });
  const count = element('p', { class: 'quiet', role: 'status' }, 'No file yet.');
  const list = element('ul', { class: 'chosen', 'aria-label': 'Chosen files', hidden: true });
  const drop = element(
    'div',
    { class: 'drop' },
    icon('upload'),
    element('p', {}, 'Drop applications here'),
    element('p', { class: 'quiet' }, `Text, Markdown or PDF, up to ${sizeInWords(DOCUMENT_LIMIT_BYTES)} each`),
    button('Choose files', () => picker.click(), {}, icon('file')),
  );

  const update = keyedList<File>(list, keyOf, (file) => {
    const remove = button('Remove', () => set(files.filter((other) => other !== file)), { class: 'is-small' });
    setAttributes(remove, { 'aria-label': `Remove ${file.name}` });
    const size = element('span', { class: 'number quiet' }, sizeInWords(file.size));
    const name = element('span', { class: 'file-name', title: file.name }, file.name);
    return { node: element('li', {}, name, size, remove), update: () => undefined };
  });

  const set = (next: readonly File[]): void => {
    files = next;
    update(files);
    show(list, files.length > 0);
    setText(count, files.length === 0 ? 'No file yet.' : `${counted(files.length, 'file')} chosen.`);
    onChange();
  };
  const add = (added: readonly File[]): void => {
    const checked = checkedFiles(files, added);
    replaceChildren(problems, ...checked.problems.map((problem) => element('li', {}, problem)));
    show(problems, checked.problems.length > 0);
    set(checked.files);
  };

  listen(picker, {
    change: () => {
      add([...(picker.files ?? [])]);
      picker.value = '';
    },
  });
  listen(drop, {
    dragover: (event) => {
      event.preventDefault();
      setAttributes(drop, { 'data-over': true });
    },
    dragleave: () => setAttributes(drop, { 'data-over': false }),
    drop: (event) => {
      event.preventDefault();
      setAttributes(drop, { 'data-over': false });
      add([...(event.dataTransfer?.files ?? [])]);
    },
  });

  const node = element(
    'section',
    { class: 'panel', 'aria-labelledby': 'files-heading' },
    element('h2', { id: 'files-heading' }, 'Applications'),
    drop,
    picker,
    problems,
    count,
    list,
  );
  return { node, value: () => files, add };
}

function keyOf({ name, size, lastModified }: File): string {
  return `${name}/${size}/${lastModified}`;
}
