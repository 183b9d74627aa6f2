import { expect, test } from 'vitest';
import { checkCall } from '../../src/host/checked-call.ts';
import { hostMethods } from '../../src/protocol/host-api.ts';

const sound = {
  send: ['thread', {}, 'id'],
  cancel: ['thread', 'id'],
  answer: ['thread', 'wait', 'digest', {}],
  view: ['thread'],
  state: ['thread', null],
  checkpoints: ['thread', {}],
  effects: ['thread'],
  watch: ['thread', { postMessage: () => undefined }],
  resume: ['thread'],
} as const;

test.for(Object.entries(sound))(
  '[H4] the call "%s" is made with what it wants, and with nothing less',
  ([name, given]) => {
    const method = hostMethods.find((each) => each === name) ?? 'hello';
    checkCall(method, given);
    given.forEach((_, index) => {
      const wrong = given.map((argument, at) => (at === index ? 5 : argument));
      const details = expect.objectContaining({ argument: index });
      expect(() => checkCall(method, wrong)).toThrow(expect.objectContaining({ code: 'call_invalid', details }));
    });
  },
);

test('[H4] a call that is refused is told of by the arguments that its caller gave', () => {
  expect(() => checkCall('rollBack', ['thread', undefined, {}])).toThrow(
    'Argument 1 of the call "rollBack" is not a text.',
  );
  expect(() => checkCall('view', [undefined])).toThrow('The thread of the call "view" is not a text.');
});
