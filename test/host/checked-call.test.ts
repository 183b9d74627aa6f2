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
      expect(() => checkCall(method, wrong)).toThrow(expect.objectContaining({ code: 'call_invalid' }));
    });
  },
);
