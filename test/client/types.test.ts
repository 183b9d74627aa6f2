/** Types flow from the definition to the page without a cast. Checked by the compiler; wrong names must not compile. */
import {
  type ChoiceNeeded,
  connect,
  defineAgent,
  FileRef,
  isChoiceNeeded,
  log,
  type PageWait,
  secret,
  tool,
  value,
} from 'holdfast';
import { TestWorld } from 'holdfast/testing';
import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';

const book = tool({
  name: 'book',
  description: 'Books a table',
  input: z.object({ guests: z.number() }),
  effect: 'once',
  run: ({ guests }, { effectKey }) => ({ table: guests, key: effectKey }),
});

const agent = defineAgent({
  name: 'typed',
  version: 1,
  state: {
    files: value(z.array(z.instanceof(FileRef)), []),
    count: value(z.number(), 0, (now: number, more: string) => now + more.length),
    notes: log(z.object({ text: z.string() })),
    key: secret(z.string()),
  },
  tools: { book },
  start: 'first',
  nodes: {
    async first(state, { call, goto, model }) {
      expectTypeOf(state.files).toEqualTypeOf<FileRef[]>();
      expectTypeOf(state.count).toEqualTypeOf<number>();
      expectTypeOf(state.notes.tail(1)).resolves.toEqualTypeOf<readonly { text: string }[]>();
      expectTypeOf(state.key).toEqualTypeOf<string | undefined>();
      const booked = await call('book', { guests: 2 });
      expectTypeOf(booked).toEqualTypeOf<{ table: number; key: string }>();
      expectTypeOf(await model.object(z.object({ ok: z.boolean() }), 'ok?')).toEqualTypeOf<{ ok: boolean }>();
      // @ts-expect-error there is no such tool
      void (() => call('boook', { guests: 2 }));
      // @ts-expect-error a wrong input
      void (() => call('book', { guests: 'two' }));
      // @ts-expect-error there is no such node
      void (() => goto('secnod'));
      // @ts-expect-error there is no such field
      void (() => goto('second', { cuont: 'x' }));
      // @ts-expect-error a secret is never part of an update
      void (() => goto('second', { key: 'x' }));
      return goto('second', { count: 'abc', notes: [{ text: 'x' }] });
    },
    second: { critical: true, run: (_state, { end }) => end() },
  },
  edges: { second: (state) => (state.count > 3 ? 'first' : null) },
});

test('[C2a] a page knows state, input and waits of the agent it connects to', () => {
  const client = connect<typeof agent>(() => {
    throw new Error('never started');
  });
  const thread = client.thread('x');
  type State = Awaited<ReturnType<typeof thread.state>>;
  expectTypeOf<State['files'][number]['name']>().toEqualTypeOf<string>();
  expectTypeOf<State['notes']['tail'][number]>().toEqualTypeOf<{ readonly text: string }>();
  expectTypeOf<State>().not.toHaveProperty('key');
  type Input = Parameters<typeof thread.send>[0];
  expectTypeOf<NonNullable<Input['files']>[number]>().toEqualTypeOf<File>();
  expectTypeOf<NonNullable<Input['count']>>().toEqualTypeOf<string>();
  // @ts-expect-error there is no such field
  expectTypeOf<{ nope: 1 }>().toExtend<Input>();
  type OneWait = PageWait<typeof agent>;
  expectTypeOf<OneWait['tool']>().toEqualTypeOf<'book'>();
  expectTypeOf<OneWait['args']>().toEqualTypeOf<{ readonly guests: number }>();
  expectTypeOf<Parameters<OneWait['done']>>().toEqualTypeOf<[result: { table: number; key: string }]>();
  expect(thread.id).toBe('x');
});

test('[C2a] an agent whose parts do not fit together is refused when it is defined', () => {
  const nodes = { one: (_: unknown, { end }: { end: () => never }) => end() };
  const define = (more: object) => () =>
    defineAgent({ name: 'x', version: 1, state: {}, start: 'one', nodes, ...more } as never);
  expect(define({})).not.toThrow();
  expect(define({ start: 'two' })).toThrow('it starts at "two", but its nodes are "one"');
  expect(define({ edges: { one: 'two' } })).toThrow('leads to "two"');
  expect(define({ edges: { zero: 'one' } })).toThrow('an edge leaves "zero"');
  expect(define({ version: 0 })).toThrow('version 0');
  expect(define({ maxSteps: 0.5 })).toThrow('maxSteps 0.5');
  expect(define({ name: '' })).toThrow('no name');
  expect(define({ tools: { other: book } })).toThrow('tool "book" is listed under "other"');
  expect(define({ tools: { book: { ...book, effect: 'maybe' } } })).toThrow('effect class "maybe"');
});

test('[C2a] an engine of an agent gives the state of its threads with the types of its fields', async () => {
  const thread = (await new TestWorld().engine({ agent })).thread('t');
  await thread.send({ count: 'abc' });

  const state = await thread.state();
  expectTypeOf(state.files).toEqualTypeOf<FileRef[]>();
  expectTypeOf(state.count).toEqualTypeOf<number>();
  // @ts-expect-error There is no such field.
  expect(state.counts).toBeUndefined();
});

test('[C2a, B12c] the details of a refusal that asks for choices have types', () => {
  const refusal: unknown = new Error('something else');
  expect(isChoiceNeeded(refusal)).toBe(false);
  if (isChoiceNeeded(refusal)) expectTypeOf(refusal.details).toEqualTypeOf<ChoiceNeeded>();
});
