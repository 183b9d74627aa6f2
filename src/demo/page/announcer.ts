import { element, setText } from './element.ts';

/** Tells screen readers what happens: steps when they have time for it, waits at once. */
export interface Announcer {
  readonly node: HTMLElement;
  politely(words: string): void;
  atOnce(words: string): void;
}

export function announcer(): Announcer {
  const polite = element('p', { 'aria-live': 'polite' });
  const assertive = element('p', { 'aria-live': 'assertive' });
  return {
    node: element('div', { class: 'visually-hidden' }, polite, assertive),
    politely: (words) => setText(polite, words),
    atOnce: (words) => setText(assertive, words),
  };
}
