import { expect, test } from 'vitest';
import { countTests } from './count-tests.ts';

const file = (name: string, status: string, ...statuses: string[]) => ({
  name,
  status,
  assertionResults: statuses.map((each, index) => ({ fullName: `test ${index}`, status: each })),
});

const report = { numPassedTests: 2, numFailedTests: 1, numPendingTests: 1, numTodoTests: 0 };

test('failed tests are counted and named', () => {
  const counts = countTests({ ...report, testResults: [file('a', 'failed', 'passed', 'failed'), file('b', 'passed')] });
  expect(counts).toEqual({ passed: 2, failed: 1, skipped: 1, failures: ['a: test 1'] });
});

test('a file that could not be loaded counts as failed', () => {
  const counts = countTests({ ...report, testResults: [file('a', 'failed')] });
  expect(counts.failures).toEqual(['a: could not be loaded']);
  expect(counts.failed).toBe(1);
});
