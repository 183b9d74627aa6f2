import type { CheckpointInfo, StreamMessage } from 'holdfast';
import { expect, test } from 'vitest';
import { expectedEnd, filesFinished } from '../../../src/demo/page/progress.ts';
import { readableJson } from '../../../src/demo/page/readable-json.ts';
import { afterMessage, emptyRun, type Run, withCheckpoints } from '../../../src/demo/page/run.ts';

type Step = Extract<StreamMessage, { type: 'step' }>['step'];

function step(sequence: number, fields: Partial<Step> = {}): StreamMessage {
  const id = String(sequence) as Step['checkpoint'];
  const plain = {
    kind: 'delta',
    cause: 'step',
    node: 'read',
    next: 'extract',
    step: null,
    atMs: 0,
    stepMs: 0,
    commitMs: 0,
  } as const;
  return { type: 'step', step: { checkpoint: id, sequence, ...plain, ...fields } };
}

function checkpoint(sequence: number, resumes: number, cause: CheckpointInfo['cause'] = 'step'): CheckpointInfo {
  const position = { node: 'read', step: null, next: [], visits: {} };
  return { id: String(sequence), sequence, kind: 'delta', cause, atMs: 0, position, control: { resumes } } as never;
}

const after = (messages: readonly StreamMessage[], from: Run = emptyRun) => messages.reduce(afterMessage, from);

test('what the model writes begins anew with an attempt and with a step', () => {
  const token = (attempt: number, text: string) =>
    ({ type: 'token', step: 's' as never, key: 'k' as never, epoch: 1, offset: 0, attempt, text }) as const;
  const run = after([step(0), token(1, 'a'), token(1, 'b')]);
  expect(run.streamed).toBe('ab');
  expect(after([token(2, 'c')], run).streamed).toBe('c');
  expect(after([step(1)], run).streamed).toBe('');
});

test('a resumed run leaves a notch at the step that it does again, an answer does not', () => {
  const resumed = { type: 'resumed', sequence: 13, node: 'match', atMs: 0 } as const;
  expect([...after([step(13), resumed]).notches]).toEqual([14]);
  expect([...after([step(13, { cause: 'wait' }), resumed]).notches]).toEqual([]);
});

test('after a reload the checkpoints tell where the run had been resumed', () => {
  const infos = [checkpoint(1, 0), checkpoint(2, 0), checkpoint(3, 1), checkpoint(4, 1, 'wait'), checkpoint(5, 2)];
  const run = withCheckpoints(emptyRun, infos);
  expect([...run.notches]).toEqual([3]);
  expect(run.marks.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
});

test('a file is finished when it is assessed or cannot be read', () => {
  const run = after([
    step(1, { node: 'job', next: 'read' }),
    step(2, { node: 'read', next: 'read' }),
    step(3, { node: 'read', next: 'extract' }),
    step(4, { node: 'extract', next: 'match' }),
    step(5, { node: 'match', next: 'assess' }),
    step(6, { node: 'assess', next: 'rank' }),
  ]);
  expect(filesFinished(run)).toBe(2);
});

test('the line ends where the run will, and for one that is done at its last checkpoint', () => {
  const files = [1, 2].map((number) => ({ name: `${number}.txt`, type: '', sizeBytes: 1 }));
  const state = { files, outcomes: { length: 0, tail: [] } } as never;
  expect(expectedEnd(after([step(0, { cause: 'input', node: null, next: 'job' })]), state)).toBe(14);
  const done = after([step(9), { type: 'status', status: 'done', failure: null }]);
  expect(expectedEnd(done, state)).toBe(9);
});

test('JSON that is still coming in is shown as words', () => {
  expect(readableJson('{"name":"Ann \\"A\\" B","yearsOfExperience":4,"email":null,"skills":["a","b')).toBe(
    'name: Ann "A" B\nyears of experience: 4\nemail: not said\nskills: a, b',
  );
  expect(readableJson('I would like')).toBe('I would like');
});
