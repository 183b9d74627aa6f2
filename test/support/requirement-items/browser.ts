import type { RequirementItem } from './item.ts';

/** C: the browser. D: keys and privacy. */
export const browserItems: readonly RequirementItem[] = [
  {
    id: 'C1',
    title: 'Worker host',
    parts: {
      a: 'the loop runs in a worker, with Comlink hidden behind the client',
      b: 'the runtime gives the page no task over 50 ms',
    },
  },
  {
    id: 'C2',
    title: 'Client SDK',
    parts: {
      a: 'typed end to end from the agent definition',
      b: 'ESM that tree-shakes and works from plain script',
      c: 'connect, send, stream, approve, history',
      d: 'fork, export, delete',
      e: 'works from React and from any bundler',
    },
  },
  {
    id: 'C3',
    title: 'Reload and crash',
    parts: {
      a: 'after a reload the thread ends as an undisturbed run',
      b: 'after a closed tab',
      c: 'after a crashed renderer',
      d: 'after a killed browser',
      e: 'after a terminated worker',
      f: 'resumes by itself or on request, as configured',
    },
  },
  {
    id: 'C4',
    title: 'Several tabs',
    parts: {
      a: 'any number of tabs show and drive one thread, and one of them runs it',
      b: 'another takes over within seconds when that one closes or crashes',
      c: 'another takes over within seconds when that one freezes',
      d: 'every tab sees the same stream',
    },
  },
  {
    id: 'C5',
    title: 'Offline',
    parts: {
      a: 'steps that need the network wait without using up retries, then go on by themselves',
      b: 'steps that do not need it run',
      c: 'the app loads offline and can be installed',
    },
  },
  {
    id: 'C6',
    title: 'Storage reality',
    parts: {
      a: 'quota exceeded',
      b: 'eviction, or storage cleared under a running page',
      c: 'persistent-storage request and private mode',
      d: 'a blocked or concurrent schema upgrade',
      e: 'a connection closed by the browser',
    },
  },
  {
    id: 'C7',
    title: 'Page life cycle',
    parts: {
      a: 'freeze and back/forward cache',
      b: 'background throttling',
      c: 'a discarded tab',
      d: 'sleep of the machine',
    },
  },
  { id: 'C8', title: 'Engines', parts: { a: 'Chromium', b: 'Firefox', c: 'WebKit' } },
  {
    id: 'C9',
    title: 'Content Security Policy',
    parts: { a: "works under script-src 'self'; worker-src 'self'", b: 'works with Trusted Types' },
  },
  {
    id: 'C10',
    title: 'Everyday life',
    parts: {
      a: 'threads have titles, and can be searched and paged',
      b: 'tokens, cost and bytes are counted',
      c: 'editing a message or asking again makes a fork',
      d: 'the page can show whether all is saved',
      e: 'switching the user wipes or locks',
      f: 'a bug report exports without any payload',
    },
  },
  {
    id: 'C11',
    title: 'Power cuts',
    parts: {
      a: 'a thread opens to all that was acknowledged, or to an earlier state that says so',
      b: 'a reverted or wiped database is noticed',
      c: 'no effect is repeated because its record was lost',
    },
  },
  {
    id: 'D1',
    title: 'Sealing',
    parts: {
      a: 'AES-256-GCM with a random data key per thread, wrapped by a root key',
      b: 'the written record format opens its test vectors with another program',
    },
  },
  {
    id: 'D2',
    title: 'Root keys',
    parts: {
      a: 'device key: cannot be extracted, needs no set-up, is the default',
      b: 'passphrase',
      c: "key from the app's server",
      d: 'WebAuthn PRF',
      e: 'while locked nothing runs and nothing can be read',
    },
  },
  {
    id: 'D3',
    title: 'Rotation',
    parts: {
      a: 'the root key rotates without rewriting payloads',
      b: 'recovery and export under a passphrase',
      c: 'lost key and wrong passphrase are two clear errors that destroy nothing',
    },
  },
  {
    id: 'D4',
    title: 'Forgetting',
    parts: {
      a: 'deleting a thread destroys its data key first',
      b: 'the profile on disk holds no plaintext of a payload, before or after',
    },
  },
  {
    id: 'D5',
    title: 'Tokens',
    parts: { a: 'a callback fetches an expiring token when it is needed', b: 'tokens live in memory only' },
  },
  { id: 'D6', title: 'Threat model: who is kept out of what, and which metadata stays readable' },
];
