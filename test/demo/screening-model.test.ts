import { expect, test } from 'vitest';
import { extractPrompt, matchPrompt, partOf } from '../../src/demo/prompts.ts';
import { extractFields, readJob } from '../../src/demo/rules.ts';
import { trustOwnScripts } from '../../src/demo/trusted-types.ts';
import { sampleText } from './samples.ts';

const asked = (text: string) => ({ messages: [{ role: 'user' as const, text }] });

test('a part of a prompt comes back exactly, whatever stands in it', () => {
  const text = 'Dear all,\n\n## job (3 characters)\n{}\n\n## application (9 characters)\nhire me!\n';
  expect(partOf(asked(extractPrompt(text)), 'application')).toBe(text);
  expect(() => partOf(asked(extractPrompt(text)), 'job')).toThrow('no part "job"');
});

test('several parts are told apart', async () => {
  const applicant = extractFields(await sampleText('12-sam-oneill.txt'));
  const job = readJob(await sampleText('job.md'));
  const request = asked(matchPrompt(applicant, job));
  expect(JSON.parse(partOf(request, 'applicant'))).toEqual(applicant);
  expect(JSON.parse(partOf(request, 'job'))).toEqual(job);
});

test('where there are no Trusted Types, there is nothing to allow', () => {
  expect(() => trustOwnScripts()).not.toThrow();
});
