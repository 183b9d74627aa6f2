import { button, element } from './element.ts';
import { icon } from './icons.ts';

export interface FrameLayout {
  readonly node: DocumentFragment;
  readonly main: HTMLElement;
  /** Sheets on a small screen, columns on a large one. */
  readonly threads: HTMLElement;
  readonly details: HTMLElement;
  closeSheets(): void;
}

/** The frame around everything: head, list of threads, run, details. */
export function frameLayout(save: HTMLElement, threads: HTMLElement, details: HTMLElement): FrameLayout {
  const list = sheet('threads-sheet', 'nav', 'Screenings', [
    element('a', { class: 'button is-new', href: '#' }, icon('plus'), element('span', {}, 'New screening')),
    threads,
  ]);
  const inspector = sheet('details-sheet', 'aside', 'Details', [details]);
  const main = element('main', { id: 'main', tabindex: '-1' });
  const head = element(
    'header',
    { class: 'top' },
    element('a', { class: 'skip', href: '#main' }, 'Skip to the screening'),
    opener('Screenings', 'threads-sheet', 'list', 'opens-threads'),
    element('p', { class: 'brand' }, element('strong', {}, 'Holdfast'), element('span', {}, 'Application screening')),
    save,
    element(
      'a',
      { class: 'outbox-link', href: '/outbox', target: '_blank', rel: 'noopener' },
      icon('mail'),
      element('span', {}, 'Outbox'),
    ),
    opener('Details', 'details-sheet', 'panel', 'opens-details'),
  );
  const skip = head.querySelector<HTMLAnchorElement>('.skip');
  skip?.addEventListener('click', (event) => {
    event.preventDefault(); // the hash names the thread
    main.focus();
  });
  const node = document.createDocumentFragment();
  node.append(head, element('div', { class: 'columns' }, list, main, inspector));
  return {
    node,
    main,
    threads: list,
    details: inspector,
    closeSheets() {
      for (const one of [list, inspector]) if (one.matches(':popover-open')) one.hidePopover();
    },
  };
}

function sheet(id: string, name: 'nav' | 'aside', title: string, children: readonly Node[]): HTMLElement {
  const node = element(name, { id, class: 'sheet', popover: 'auto', 'aria-label': title });
  const close = button('Close', () => node.hidePopover(), { class: 'is-small closes-sheet' }, icon('x'));
  node.append(element('div', { class: 'sheet-head' }, element('h2', {}, title), close), ...children);
  return node;
}

function opener(words: string, target: string, name: 'list' | 'panel', className: string): HTMLElement {
  return element(
    'button',
    { type: 'button', class: `opener ${className}`, popovertarget: target },
    icon(name),
    element('span', {}, words),
  );
}
